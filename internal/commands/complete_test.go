package commands_test

import (
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/kubetest"
)

// What Tab offers comes from the kubeconfig, the cluster and the configured blueprints.
func TestCompletion(t *testing.T) {
	cmdtest.Offline(t)
	server := kubetest.Start(t, nil)
	cmdtest.Cluster(t, server.URL)
	for _, at := range []string{
		"/apis/apps/v1/namespaces/team/deployments/web",
		"/apis/batch/v1/namespaces/team/jobs/nightly", "/apis/apps/v1/namespaces/other/deployments/theirs",
	} {
		server.Put(at, &kubetest.Object{Object: map[string]any{}})
	}
	for _, c := range []struct{ args, want, not string }{
		{"status --context ", "x\n", ""},
		{"status --namespace ", "team\n", ""},
		{"status -n ", "team\n", ""},
		{"provision alice~", "alice~default\n", "alice~pod"},
		{"provision alice", ":4", "alice~"},
		{"provision alice~repo=", ":4", "alice~"},
		{"provision alice bob~", ":4", "bob~"},
		{"provision alice --ignore-reason ", "CrashLoop", "pod/"},
		{
			"provision alice --ignore-reason OOMKilled,", "OOMKilled,CrashLoopBackOff\tKubernetes' " +
				"word for CrashLoop\n",
			"",
		},
		{"explain ", "ErrImagePull\tKubernetes' word for ImageNotFound, ", ""},
		{"explain CrashLoop ", ":4", "ImageNotFound"},
		{"diagnose dep", "deployment/\n:6\n", "job/"},
		{"diagnose ", ":4", "deployment/"},
		{"diagnose deployment/", "deployment/web\n:4\n", "theirs"},
		{"diagnose deploy/w", "deploy/web\n", ""},
		{"diagnose job/", "job/nightly\n", ""},
		{"diagnose pod/", ":4", "web"},
		{"diagnose nosuch/", ":4", "web"},
		{"diagnose deployment/web ", ":4", "web"},
	} {
		args := append([]string{"__complete"}, strings.Split(c.args, " ")...)
		_, stdout, stderr := cmdtest.Run(t, "", args...)
		if !strings.Contains(stdout, c.want) || c.not != "" && strings.Contains(stdout, c.not) {
			t.Errorf("berth %s: Tab offers %q, want %q\n%s", c.args, stdout, c.want, stderr)
		}
	}
}
