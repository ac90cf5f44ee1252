package cluster

import (
	"context"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	dynamicfake "k8s.io/client-go/dynamic/fake"

	"github.com/berthdev/berth/internal/bundle/installer"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// known is how kinds are addressed in a cluster that has those of Kubernetes.
func known(_ context.Context, kind schema.GroupVersionKind) (kube.Resource, bool, error) {
	resource, is := kube.ResourceOf(kind)
	return resource, is, nil
}

func object(kind, namespace, name string) *unstructured.Unstructured {
	o := kube.Named(kind, name)
	o.SetAPIVersion("v1")
	o.SetNamespace(namespace)
	return o
}

// A template finds objects and lists of them, and nothing of the system namespace where that is reserved.
func TestLookup(t *testing.T) {
	secrets := schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
	v := View{
		Client: &kube.Client{Dynamic: dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
			map[schema.GroupVersionResource]string{secrets: "SecretList"}, object("Secret", "ns", "s"),
			object("Secret", "shop", "s"))},
		ResourceOf: known,
	}
	for name, test := range map[string]struct {
		kind, namespace, name string
		reserved              bool
		found                 int
		err                   string
	}{
		"one":                    {"Secret", "shop", "s", true, 1, ""},
		"one that is not there":  {"Secret", "shop", "other", true, 0, ""},
		"a kind that is unknown": {"Web", "shop", "s", true, 0, ""},
		"all":                    {"Secret", "", "", false, 2, ""},
		"all but the reserved":   {"Secret", "", "", true, 1, ""},
		"one of the system":      {"Secret", "ns", "s", false, 1, ""},
		"one that is reserved":   {"Secret", "ns", "s", true, 0, "secret/s in the system namespace ns"},
		"all that are reserved":  {"Secret", "ns", "", true, 0, "every Secret in the system namespace ns"},
		"the namespace itself":   {"Namespace", "", "ns", true, 0, "the system namespace ns"},
	} {
		v.Reserved = installer.Reserved{}
		if test.reserved {
			v.Reserved.System = "ns"
		}
		got, err := v.Lookup(t.Context(), "v1", test.kind, test.namespace, test.name)
		found := 0
		if items, is := got["items"].([]any); is {
			found = len(items)
		} else if got != nil {
			found = 1
		}
		if found != test.found || (err != nil) != (test.err != "") {
			t.Errorf("%s: %d found, %v", name, found, err)
		}
		if want := "the template looks up " + test.err + ", which bundles leave alone"; err != nil &&
			(err.Error() != want || fault.CodeOf(err) != fault.Failed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// shelf is a list of objects, in pages.
type shelf struct {
	dynamic.ResourceInterface
	objects []unstructured.Unstructured
	limits  []int64 // that were asked for
}

func (s *shelf) List(_ context.Context, o metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	s.limits = append(s.limits, o.Limit)
	at := 0
	if o.Continue != "" {
		if _, err := fmt.Sscan(o.Continue, &at); err != nil {
			return nil, err
		}
	}
	end := min(at+int(o.Limit), len(s.objects))
	list := &unstructured.UnstructuredList{
		Object: map[string]any{"apiVersion": "v1", "kind": "SecretList"}, Items: s.objects[at:end],
	}
	if end < len(s.objects) {
		list.SetContinue(fmt.Sprint(end))
	}
	return list, nil
}

// A list is read in pages that are as large as its objects let them be, and never more of it than a chart may have.
func TestListed(t *testing.T) {
	for name, test := range map[string]struct {
		objects, bytes int
		found, pages   int
		err            bool
	}{
		"none":           {0, 0, 0, 1, false},
		"a page":         {16, 1, 16, 1, false},
		"two pages":      {500, 1, 500, 2, false},
		"too many":       {1500, 1, 1000, 2, false},
		"large objects":  {30, 1 << 20, 30, 3, false},
		"too much of it": {100, 1 << 20, 0, 4, true},
	} {
		s := &shelf{}
		for i := range test.objects {
			o := object("Secret", "shop", fmt.Sprint(i))
			o.Object["data"] = map[string]any{"text": strings.Repeat("x", test.bytes)}
			s.objects = append(s.objects, *o)
		}
		got, err := listed(t.Context(), s, func(unstructured.Unstructured) bool { return false })
		items, _ := got["items"].([]any)
		if len(items) != test.found || (err != nil) != test.err || len(s.limits) != test.pages {
			t.Errorf("%s: %d found in pages of %v, %v", name, len(items), s.limits, err)
		}
	}
}
