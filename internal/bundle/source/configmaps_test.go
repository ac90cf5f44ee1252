package source_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/bundle/source"
	"github.com/berthdev/berth/internal/fault"
)

func immutable(name string, data map[string]string) *corev1.ConfigMap {
	yes := true
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: system}, Immutable: &yes, Data: data}
}

func ofConfigMaps(sources ...v1alpha1.ConfigMapSource) v1alpha1.Source {
	return v1alpha1.Source{Type: v1alpha1.SourceConfigMaps, ConfigMaps: sources}
}

func TestConfigMaps(t *testing.T) {
	b := immutable("b", map[string]string{"x.yaml": "B"})
	b.BinaryData = map[string][]byte{"bin": {0, 1}}
	objects := []runtime.Object{immutable("a", map[string]string{"x.yaml": "A", "y.yaml": ""}), b}
	want := map[string]string{"x.yaml": "A", "y.yaml": "", "manifests/x.yaml": "B", "manifests/bin": "\x00\x01"}
	s := ofConfigMaps(configMap("a", ""), configMap("b", "manifests"))
	for i := range 20 { // more than are under way at once
		objects = append(objects, immutable(fmt.Sprint("m", i), map[string]string{"key": fmt.Sprint(i)}))
		s.ConfigMaps = append(s.ConfigMaps, configMap(fmt.Sprint("m", i), fmt.Sprint("many/", i)))
		want[fmt.Sprint("many/", i, "/key")] = fmt.Sprint(i)
	}
	f, client := onCluster(t, objects...)
	c, resolved, err := f.Fetch(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if got := files(t, c); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if diff := cmp.Diff(s, resolved); diff != "" || len(client.Actions()) != len(s.ConfigMaps) {
		t.Errorf("%s, %d requests", diff, len(client.Actions()))
	}
}

func TestConfigMapsAreRefused(t *testing.T) {
	mutable := immutable("mutable", map[string]string{"a": ""})
	mutable.Immutable = nil
	objects := []runtime.Object{
		mutable, immutable("one", map[string]string{"a": "1", "b": ""}), immutable("two", map[string]string{"a": "2"}),
		immutable("three", map[string]string{"a": "3", "c": ""}),
		source.NewChunk("shop"), immutable("parent", map[string]string{"d": ""}),
		immutable("evil", map[string]string{"..": "", "x": ""}),
	}
	for name, test := range map[string]struct {
		sources []v1alpha1.ConfigMapSource
		want    []string
	}{
		"missing and mutable": {
			[]v1alpha1.ConfigMapSource{configMap("none", ""), configMap("mutable", "")},
			[]string{"configmap/none does not exist in namespace berth-system", "configmap/mutable is not immutable"},
		},
		"those of an upload": {
			[]v1alpha1.ConfigMapSource{configMap("one", ""), configMap(source.NewChunk("shop").Name, "files")},
			[]string{"configmap/" + source.NewChunk("shop").Name +
				" is of the upload of a bundle, which belongs to that one alone"},
		},
		"two with one path": {
			[]v1alpha1.ConfigMapSource{
				configMap("one", "d"), configMap("two", "d/"), configMap("three", "./d"),
				configMap("three", "e"),
			},
			[]string{"d/a comes from more than one ConfigMap: one, two, three"},
		},
		"one twice": {
			[]v1alpha1.ConfigMapSource{configMap("three", ""), configMap("three", "")},
			[]string{
				"a comes from more than one ConfigMap: three, three",
				"c comes from more than one ConfigMap: three, three",
			},
		},
		"paths": {
			[]v1alpha1.ConfigMapSource{configMap("two", "../x"), configMap("parent", "/x"), configMap("evil", "")},
			[]string{
				`configmap/two: "../x/a": a path cannot have ".."`, `configmap/parent: "/x/d": an absolute path`,
				`configmap/evil: "..": a path cannot have ".."`,
			},
		},
		"a file that is a directory": {
			[]v1alpha1.ConfigMapSource{configMap("one", ""), configMap("parent", "a")},
			[]string{`configmap/parent: "a": the name of both a file and a directory`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			f, _ := onCluster(t, objects...)
			_, _, err := f.Fetch(t.Context(), ofConfigMaps(test.sources...))
			if fault.CodeOf(err) != fault.InvalidArgument {
				t.Fatal(err)
			}
			got := fault.From(err).Problems
			if len(got) == 0 {
				got = []string{err.Error()}
			}
			if diff := cmp.Diff(test.want, got); diff != "" ||
				!strings.Contains(fault.From(err).Hint, "immutable: true") {
				t.Error(diff, fault.From(err).Hint)
			}
		})
	}
	if _, _, err := newFetcher(t).Fetch(t.Context(), ofConfigMaps(configMap("a", ""))); err == nil ||
		!strings.Contains(err.Error(), "needs configmap/a of a cluster") {
		t.Error(err)
	}
}
