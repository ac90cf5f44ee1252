package catalog

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/fault"
)

func configMap(namespace, name string, data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Data: data}
}

// The YAML keys of ConfigMaps are read, in the order in which those are configured, and sorted in each.
func TestReadConfigMaps(t *testing.T) {
	client := fake.NewClientset(
		configMap("team", "a", map[string]string{"z.yaml": "z", "b.yml": "b", "README.md": "no"}),
		configMap("platform", "a", map[string]string{"a.yaml": "a"}), configMap("team", "empty", nil),
		configMap("team", "other", map[string]string{"x.yaml": "x"}),
	)
	found, err := ReadConfigMaps(t.Context(), client,
		[]blueprint.ConfigMap{
			{Namespace: "team", Name: "a"},
			{Namespace: "team", Name: "empty"},
			{Namespace: "platform", Name: "a"},
		})
	var got []string
	for _, source := range found {
		got = append(got, source.Name+" "+string(source.Text))
	}
	if want := []string{
		"configmap/team/a:b.yml b", "configmap/team/a:z.yaml z",
		"configmap/platform/a:a.yaml a",
	}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}

// A ConfigMap that cannot be read is an error: a workspace is not made of less than was configured.
func TestConfigMapThatCannotBeRead(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		code fault.Code
		says string
	}{
		"missing": {nil, fault.NotFound, "configmap team/b not found; blueprintConfigMaps in the " +
			"configuration names it"},
		"forbidden": {
			apierrors.NewForbidden(corev1.Resource("configmaps"), "b", errors.New(`User "alice" cannot do that`)),
			fault.PermissionDenied, "",
		},
		"away": {apierrors.NewServiceUnavailable("busy"), fault.Unavailable, "cannot get configmap"},
	} {
		client := fake.NewClientset(configMap("team", "a", map[string]string{"a.yaml": "a"}))
		client.PrependReactor("get", "configmaps", func(action clienttesting.Action) (bool, runtime.Object, error) {
			return c.err != nil && action.(clienttesting.GetAction).GetName() == "b", nil, c.err
		})
		found, err := ReadConfigMaps(t.Context(), client,
			[]blueprint.ConfigMap{{Namespace: "team", Name: "a"}, {Namespace: "team", Name: "b"}})
		if found != nil || fault.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %+v, %v", name, found, err)
		}
		hint := fault.From(err).Hint
		if (hint == "create it, or correct blueprintConfigMaps in the configuration") != (name == "missing") {
			t.Errorf("%s: the hint is %q", name, hint)
		}
	}
}

// All ConfigMaps together have 8 MiB at most.
func TestSizeOfConfigMaps(t *testing.T) {
	for more, fine := range map[string]bool{"": true, "x": false} {
		client := fake.NewClientset()
		var all []blueprint.ConfigMap
		for i := range 9 {
			name, text := fmt.Sprint("a", i), strings.Repeat("x", 1<<20)
			if i == 8 {
				text = more
			}
			if err := client.Tracker().Add(configMap("team", name, map[string]string{"a.yaml": text})); err != nil {
				t.Fatal(err)
			}
			all = append(all, blueprint.ConfigMap{Namespace: "team", Name: name})
		}
		found, err := ReadConfigMaps(t.Context(), client, all)
		if fine && (err != nil || len(found) != 9) {
			t.Errorf("%d are read, %v", len(found), err)
		}
		if want := "configmap/team/a8:a.yaml: the ConfigMaps of blueprints exceed 8 MiB in total"; !fine &&
			(found != nil || !slices.Equal(problemsOf(err), []string{want})) {
			t.Errorf("%d are read, %v: %q", len(found), err, problemsOf(err))
		}
	}
}
