package commands_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/kubetest"
	"github.com/berthdev/berth/internal/watch/cause"
)

// silence takes away what the node has said about a pod, which was placed a while ago.
func silence(server *kubetest.Server, pod string) {
	o, placed := server.Get(pod), time.Now().Add(-5*time.Minute).UTC().Format(time.RFC3339)
	o.Object["metadata"].(map[string]any)["creationTimestamp"] = placed
	o.Object["spec"].(map[string]any)["nodeName"] = "node1"
	o.Object["status"] = map[string]any{"phase": "Pending", "conditions": []any{
		map[string]any{"type": "PodScheduled", "status": "True", "lastTransitionTime": placed},
	}}
	server.Put(pod, o)
}

// The node that a pod waits on is read if the caller may; if not, that is said, and the rest
// of the picture stands.
func TestStatusReadsNodes(t *testing.T) {
	cmdtest.Offline(t)
	var forbidden atomic.Bool
	server := kubetest.Start(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if forbidden.Load() && strings.HasPrefix(r.URL.Path, "/api/v1/nodes") {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusForbidden)
				_, _ = fmt.Fprint(w,
					`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,`+
						`"message":"nodes is forbidden"}`)
				return
			}
			next.ServeHTTP(w, r)
		})
	})
	cmdtest.Cluster(t, server.URL)
	cmdtest.Must(t, 0, "provision", "alice")
	silence(server, "/api/v1/namespaces/team/pods/alice-a975fae")
	server.Put("/api/v1/nodes/node1", &kubetest.Object{Object: map[string]any{
		"apiVersion": "v1", "kind": "Node", "metadata": map[string]any{"name": "node1"},
		"status": map[string]any{"conditions": []any{
			map[string]any{"type": "Ready", "status": "Unknown", "message": "Kubelet stopped posting node status."},
		}},
	}})
	read := func() v1.Workspace {
		stdout, _ := cmdtest.Must(t, 0, "status", "alice", "-o", "json")
		return workspaceOf(t, stdout)
	}
	if w := read(); w.Cause == nil || w.Cause.Code != cause.NodeLost || w.Unread != nil {
		t.Errorf("%+v, made without %q", w.Cause, w.Unread)
	}
	forbidden.Store(true)
	if w := read(); w.Cause == nil || w.Cause.Code != cause.KubeletSilent ||
		!slices.Equal(w.Unread, []string{"get nodes"}) {
		t.Errorf("%+v, made without %q", w.Cause, w.Unread)
	}
	if stdout, _ := cmdtest.Must(t, 0, "status", "alice"); !strings.Contains(stdout,
		"made without permission to get nodes") {
		t.Errorf("%s", stdout)
	}
}
