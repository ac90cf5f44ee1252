package hooks

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	fakediscovery "k8s.io/client-go/discovery/fake"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"

	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/apply/live"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kubetest"
)

func object(version, kind, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetAPIVersion(version)
	o.SetKind(kind)
	o.SetName(name)
	o.SetNamespace("team")
	return o
}

// start is an applier on a server on which Jobs end at once, those whose name begins
// with "bad" without success.
func start(t *testing.T) (*kubetest.Server, apply.Applier) {
	t.Helper()
	var server *kubetest.Server
	server = kubetest.Start(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			next.ServeHTTP(w, r)
			if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/jobs") {
				return
			}
			for _, at := range server.Names("jobs") {
				job := object("batch/v1", "Job", "")
				job.SetLabels(map[string]string{"owner": "b"})
				job.SetAnnotations(map[string]string{"release": "b"})
				status := map[string]any{
					"completionTime": "2026-01-02T03:04:05Z",
					"conditions":     []any{map[string]any{"type": "Complete", "status": "True"}},
				}
				if strings.Contains(at, "/bad") {
					status = map[string]any{"conditions": []any{map[string]any{
						"type": "Failed", "status": "True",
						"message": "it has failed",
					}}}
				}
				job.Object["status"] = status
				server.Put(at, keepUID(server, at, job))
			}
		})
	})
	client := dynamic.NewForConfigOrDie(&rest.Config{Host: server.URL, QPS: -1})
	view := live.New(client, "owner=b")
	t.Cleanup(view.Close)
	return server, apply.Applier{
		Client: client, Discovery: &fakediscovery.FakeDiscovery{Fake: &clienttesting.Fake{}}, Namespace: "team",
		Live: view,
		Owner: apply.Owner{
			Name: "bundle b", Annotations: map[string]string{"release": "b"},
			Tags: map[string]string{"owner": "b"},
		},
	}
}

func keepUID(server *kubetest.Server, at string, job *unstructured.Unstructured) *unstructured.Unstructured {
	if current := server.Get(at); current != nil {
		job.SetUID(current.GetUID())
	}
	return job
}

// Hooks of the event run by weight, Jobs to their end, and go as their policies say.
func TestRun(t *testing.T) {
	server, applier := start(t)
	hooks := []Hook{
		{
			Object: object("batch/v1", "Job", "third"), Events: []string{"pre-install"}, Weight: 5,
			Delete: []Policy{Succeeded},
		},
		{Object: object("v1", "ConfigMap", "first"), Events: []string{"pre-install", "pre-upgrade"}, Weight: -5},
		{Object: object("batch/v1", "Job", "second"), Events: []string{"pre-install"}},
		{Object: object("batch/v1", "Job", "never"), Events: []string{"post-delete"}},
	}
	for range 2 {
		var told []string
		err := Run(t.Context(), applier, hooks, "pre-install", time.Minute,
			func(h Hook) { told = append(told, h.Object.GetName()) })
		if err != nil || !slices.Equal(told, []string{"first", "second", "third"}) {
			t.Fatalf("%q, %v", told, err)
		}
		if left := server.Names("jobs"); len(left) != 1 || !strings.HasSuffix(left[0], "/second") {
			t.Errorf("left: %q", left)
		}
		for _, at := range server.Names("configmaps") {
			if made := server.Get(at); !IsHook(made) || made.GetAnnotations()[Annotation] != "pre-install,pre-upgrade" {
				t.Errorf("%s is not marked as a hook: %v", at, made.GetAnnotations())
			}
		}
	}
}

// A hook that fails ends it, and says where its log is.
func TestRunFails(t *testing.T) {
	_, applier := start(t)
	applier.Namespace = "team"
	bad := object("batch/v1", "Job", "bad")
	bad.SetNamespace("") // as most charts have it
	hooks := []Hook{
		{Object: bad, Events: []string{"pre-install"}},
		{Object: object("v1", "ConfigMap", "after"), Events: []string{"pre-install"}, Weight: 1},
	}
	told := 0
	err := Run(t.Context(), applier, hooks, "pre-install", time.Minute, func(Hook) { told++ })
	found := fault.From(err)
	if told != 1 || found.Code != fault.Failed || !strings.Contains(found.Message, "hook job/bad of pre-install") ||
		found.Hint != "see why: kubectl logs job/bad --namespace team" {
		t.Errorf("%d told, %v, %q", told, err, found.Hint)
	}
}
