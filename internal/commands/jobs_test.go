package commands_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/kubetest"
)

// putJob puts the record of a job into the cluster, which expires then.
func putJob(server *kubetest.Server, id string, expires time.Time) {
	name := "k8shell-job-" + id
	record := fmt.Sprintf(`{"id":%q,"workspaceName":"alice-a975fae","userString":"alice","username":"alice","status":"completed",`+
		`"createdAt":"2026-11-20T12:00:00Z","updatedAt":"2026-11-20T12:00:09Z","finishedAt":"2026-11-20T12:00:09Z","events":[]}`, id)
	server.Put("/api/v1/namespaces/team/configmaps/"+name, &kubetest.Object{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": name, "namespace": "team", "labels": map[string]any{
			"k8shell.io/job-id": id, "k8shell.io/job-expires": fmt.Sprint(expires.Unix()),
		}},
		"data": map[string]any{"record": record},
	}})
}

// Records that have expired are removed by whatever writes, and stay as long as commands only
// read.
func TestExpiredRecordsGo(t *testing.T) {
	cmdtest.Offline(t)
	server := kubetest.Start(t, nil)
	cmdtest.Cluster(t, server.URL)
	const old, recent = "/api/v1/namespaces/team/configmaps/k8shell-job-old", "/api/v1/namespaces/team/configmaps/k8shell-job-recent"
	for _, c := range []struct {
		args  []string
		stays bool
	}{
		{[]string{"provision", "alice"}, false},
		{[]string{"status", "alice"}, true},
		{[]string{"jobs"}, true},
		{[]string{"stop", "alice"}, false},
		{[]string{"start", "alice"}, false},
		{[]string{"delete", "alice", "--dry-run=client"}, true},
		{[]string{"delete", "alice"}, false},
	} {
		putJob(server, "old", time.Now().Add(-time.Hour))
		putJob(server, "recent", time.Now().Add(time.Hour))
		cmdtest.Must(t, 0, c.args...)
		there := server.Names("configmaps")
		if slices.Contains(there, old) != c.stays || !slices.Contains(there, recent) {
			t.Errorf("after berth %v there are %v", c.args, there)
		}
	}
}
