package live

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/kubetest"
)

func resource(group, plural string) kube.Resource {
	return kube.Resource{GroupVersionResource: schema.GroupVersionResource{
		Group: group, Version: "v1",
		Resource: plural,
	}, Namespaced: true}
}

func object(value string) *kubetest.Object {
	o := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"data": map[string]any{"a": value},
	}}
	o.SetNamespace("team")
	o.SetLabels(map[string]string{"owner": "me"})
	return o
}

// start is a view of a server that answers some paths with a status, and counts.
func start(t *testing.T, refuse map[string]int) (*kubetest.Server, *View, *atomic.Int64) {
	t.Helper()
	requests := &atomic.Int64{}
	server := kubetest.Start(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			requests.Add(1)
			if status := refuse[r.URL.Path]; status != 0 {
				http.Error(w, "no", status)
				return
			}
			next.ServeHTTP(w, r)
		})
	})
	view := New(dynamic.NewForConfigOrDie(&rest.Config{Host: server.URL, QPS: -1}), "owner=me")
	t.Cleanup(view.Close)
	return server, view, requests
}

// until waits until the view is as it should be.
func (v *View) until(ctx context.Context, is func() bool) bool {
	for {
		changed := v.Changed()
		if is() {
			return true
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}

// A view has what there is when Watch returns, and what becomes of it, at one request
// a kind.
func TestView(t *testing.T) {
	server, view, requests := start(t, nil)
	const at = "/api/v1/namespaces/team/configmaps/"
	server.Put(at+"a", object("1"))
	other := object("1")
	other.SetLabels(nil)
	server.Put(at+"b", other)
	maps, secrets := resource("", "configmaps"), resource("", "secrets")
	if _, known := view.Get(maps, "team", "a"); known {
		t.Error("it is known before it is asked for")
	}
	for range 2 {
		if err := view.Watch(t.Context(), Scope{maps, "team"}, Scope{Resource: secrets}); err != nil {
			t.Fatal(err)
		}
	}
	if n := requests.Load(); n != 2 {
		t.Errorf("%d requests", n)
	}
	if o, known := view.Get(maps, "team", "a"); !known || o == nil || len(view.Objects()) != 1 {
		t.Errorf("%v, %t, %v", o, known, view.Objects())
	}
	if o, known := view.Get(maps, "team", "b"); !known || o != nil {
		t.Errorf("without the label: %v, %t", o, known)
	}
	if _, known := view.Get(maps, "other", "a"); known {
		t.Error("another namespace is known")
	}
	if o, known := view.Get(secrets, "other", "a"); !known || o != nil {
		t.Errorf("in all namespaces: %v, %t", o, known)
	}
	server.Put(at+"a", object("2"))
	server.Put(at+"c", object("3"))
	get := func(name, value string) bool {
		o, _ := view.Get(maps, "team", name)
		if o == nil {
			return value == ""
		}
		got, _, _ := unstructured.NestedString(o.Object, "data", "a")
		return got == value
	}
	if !view.until(t.Context(), func() bool { return get("a", "2") && get("c", "3") }) {
		t.Error("it does not change")
	}
	if view.Err() != nil {
		t.Error(view.Err())
	}
}

// Of a kind that the cluster does not have there is nothing, until it has it.
func TestViewOfAMissingKind(t *testing.T) {
	refuse := map[string]int{"/apis/example.org/v1/crews": http.StatusNotFound}
	server, view, _ := start(t, refuse)
	crews := resource("example.org", "crews")
	if err := view.Watch(t.Context(), Scope{Resource: crews}); err != nil {
		t.Fatal(err)
	}
	if o, known := view.Get(crews, "team", "a"); !known || o != nil {
		t.Errorf("%v, %t", o, known)
	}
	delete(refuse, "/apis/example.org/v1/crews")
	crew := object("1")
	crew.SetAPIVersion("example.org/v1")
	crew.SetKind("Crew")
	server.Put("/apis/example.org/v1/namespaces/team/crews/a", crew)
	if err := view.Watch(t.Context(), Scope{Resource: crews}); err != nil {
		t.Fatal(err)
	}
	if o, known := view.Get(crews, "team", "a"); !known || o == nil {
		t.Errorf("%v, %t", o, known)
	}
}

// Anyone who may not watch is told so.
func TestViewIsRefused(t *testing.T) {
	_, view, _ := start(t, map[string]int{"/api/v1/secrets": http.StatusForbidden})
	err := view.Watch(t.Context(), Scope{Resource: resource("", "secrets")}, Scope{resource("", "configmaps"), "team"})
	if fault.CodeOf(err) != fault.PermissionDenied || !strings.Contains(err.Error(), "secrets") {
		t.Errorf("%v", err)
	}
	if _, known := view.Get(resource("", "secrets"), "team", "a"); known {
		t.Error("what may not be read is known")
	}
	if err := view.Watch(t.Context(), Scope{resource("", "configmaps"), "team"}); err != nil || view.Err() != nil {
		t.Errorf("what was refused is held against the rest: %v, %v", err, view.Err())
	}
}
