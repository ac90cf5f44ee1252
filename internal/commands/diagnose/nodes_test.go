package diagnose_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/kubetest"
)

// Of a pod that waits on its node, the node is read by a caller who may; what it would
// say is missing for another, which is said, and the rest stands. Of a pod that waits for
// something else, it is not asked for.
func TestDiagnoseReadsNodes(t *testing.T) {
	cmdtest.Offline(t)
	var refuses atomic.Bool
	var asked atomic.Int32
	server := kubetest.Start(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.URL.Path, "/api/v1/nodes/") {
				asked.Add(1)
				if refuses.Load() {
					w.Header().Set("Content-Type", "application/json")
					w.WriteHeader(http.StatusForbidden)
					_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure",` +
						`"reason":"Forbidden","code":403}`))
					return
				}
			}
			next.ServeHTTP(w, r)
		})
	})
	cmdtest.Cluster(t, server.URL)
	server.Put("/api/v1/nodes/node-2", &kubetest.Object{Object: map[string]any{
		"apiVersion": "v1", "kind": "Node", "metadata": map[string]any{},
		"status": map[string]any{"conditions": []any{map[string]any{
			"type": "Ready", "status": "Unknown", "message": "Kubelet stopped posting node status.",
			"lastTransitionTime": "2026-11-20T20:00:00Z",
		}}},
	}})
	pod := func(name, node string, status map[string]any) {
		server.Put("/api/v1/namespaces/team/pods/"+name, &kubetest.Object{Object: map[string]any{
			"apiVersion": "v1", "kind": "Pod",
			"metadata": map[string]any{"namespace": "team"},
			"spec":     map[string]any{"nodeName": node, "containers": []any{map[string]any{"name": "app"}}},
			"status":   status,
		}})
	}
	pod("api", "node-2", map[string]any{
		"phase": "Unknown", "reason": "NodeLost",
		"message": "Node node-2 which was running pod api is unresponsive",
	})
	pod("waiting", "", map[string]any{"phase": "Pending"})

	stdout, _ := cmdtest.Must(t, 0, "diagnose", "pod/api", "--namespace", "team")
	for _, words := range []string{
		"node node-2 has not been heard from since 2026-11-20 20:00:00 UTC",
		"kubectl describe node node-2",
	} {
		if !strings.Contains(strings.Join(strings.Fields(stdout), " "), words) {
			t.Errorf("it does not say %q:\n%s", words, stdout)
		}
	}
	refuses.Store(true)
	stdout, _ = cmdtest.Must(t, 0, "diagnose", "pod/api", "--namespace", "team")
	for _, words := range []string{
		"node node-2 has not been heard from: Node node-2 which was running pod api is unresponsive",
		"made without permission to get nodes",
	} {
		if !strings.Contains(strings.Join(strings.Fields(stdout), " "), words) {
			t.Errorf("without permission, it does not say %q:\n%s", words, stdout)
		}
	}
	before := asked.Load()
	cmdtest.Must(t, 0, "diagnose", "pod/waiting", "--namespace", "team")
	if asked.Load() != before {
		t.Error("it reads a node of a pod that has none")
	}
}
