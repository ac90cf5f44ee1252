package commands_test

import (
	"encoding/base64"
	"maps"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/kubetest"
)

// A workspace that is named by its pod has to be its user's, before anything is done: also
// one without a pod, of which Helm's record says whose it is.
func TestNamedByItsPod(t *testing.T) {
	cmdtest.Offline(t)
	server := kubetest.Start(t, nil)
	cmdtest.Cluster(t, server.URL)
	const denied = 4
	for _, c := range []struct {
		args   string
		status int
		says   string
	}{
		{"provision alice", 0, "Running"},
		{"status bob~pod=alice-a975fae", denied, "does not belong to bob"},
		{"status alice~pod=alice-a975fae", 0, "Running"},
		{"stop alice", 0, "stopped"},
		{"status bob~pod=alice-a975fae", denied, "alice~pod=alice-a975fae"},
		{"start bob~pod=alice-a975fae", denied, "does not belong to bob"},
		{"delete bob~pod=alice-a975fae", denied, "does not belong to bob"},
		{"status alice~pod=alice-a975fae", 0, "Stopped"},
		{"delete alice~pod=alice-a975fae", 0, "deleted"},
	} {
		status, stdout, stderr := cmdtest.Run(t, "", strings.Fields(c.args)...)
		if status != c.status || !strings.Contains(stdout+stderr, c.says) {
			t.Fatalf("berth %s: %d\n%s\n%s\nwant %d and %q", c.args, status, stdout, stderr, c.status, c.says)
		}
	}
}

// The pod of a workload names the workspace that is injected into it.
func TestInjectedNamedByItsPod(t *testing.T) {
	cmdtest.Offline(t)
	server := kubetest.Start(t, nil)
	cmdtest.Cluster(t, server.URL)
	const id = "alice-1234567"
	labels := map[string]any{
		"k8shell.io/canonical-id": id, "k8shell.io/username": "alice", "k8shell.io/injected": "true",
		"k8shell.io/workload-kind": "deployment", "k8shell.io/workload-name": "web",
	}
	user := base64.StdEncoding.EncodeToString([]byte("alice~dev+ns=team+workload=deployment/web"))
	annotations := map[string]any{"k8shell.io/userstr": user}
	template := map[string]any{
		"metadata": map[string]any{"labels": labels, "annotations": annotations},
		"spec":     map[string]any{},
	}
	server.Put("/apis/apps/v1/namespaces/team/deployments/web", &kubetest.Object{Object: map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment",
		"metadata": map[string]any{"annotations": map[string]any{
			"k8shell.io/injection": `{"canonicalId": "` + id + `", "containers": ["` + id + `-k8shell-main"]}`,
		}},
		"spec": map[string]any{"template": template},
	}})
	pod := func(name string, labels map[string]any) {
		if labels != nil {
			labels = maps.Clone(labels)
			labels["pod-template-hash"] = "5f7d9c6b8"
		}
		server.Put("/api/v1/namespaces/team/pods/"+name, &kubetest.Object{Object: map[string]any{
			"apiVersion": "v1", "kind": "Pod",
			"metadata": map[string]any{"labels": labels, "annotations": annotations, "ownerReferences": []any{
				map[string]any{
					"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-5f7d9c6b8", "uid": "1",
					"controller": true,
				},
			}},
		}})
	}
	pod("web-1", labels)
	pod("other", nil)
	for _, c := range []struct {
		args   string
		status int
		says   string
	}{
		{"status alice~pod=web-1", 0, id},
		{"status bob~pod=web-1", 4, "does not belong to bob"},
		{"delete bob~pod=web-1", 4, "does not belong to bob"},
		{"status alice~pod=other", 6, "not managed by berth"},
		{"delete alice~pod=web-1 --dry-run=client", 0, "deployment/web"},
	} {
		status, stdout, stderr := cmdtest.Run(t, "", strings.Fields(c.args)...)
		if status != c.status || !strings.Contains(stdout+stderr, c.says) {
			t.Errorf("berth %s: %d\n%s\n%s\nwant %d and %q", c.args, status, stdout, stderr, c.status, c.says)
		}
	}
}
