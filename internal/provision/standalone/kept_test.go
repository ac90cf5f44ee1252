package standalone

import (
	"strings"
	"testing"

	helm "helm.sh/helm/v3/pkg/release"
	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/release"
)

// Only the pod is missing if all else was applied, and nothing but the job differs.
func TestOnlyPodMissing(t *testing.T) {
	config := func(job string) map[string]any {
		return map[string]any{"labels": map[string]any{kube.LabelJobID: job}}
	}
	for name, c := range map[string]struct {
		change func(*inventory.Found)
		want   bool
	}{
		"stopped":            {func(*inventory.Found) {}, true},
		"it has a pod":       {func(f *inventory.Found) { f.Pod = &corev1.Pod{} }, false},
		"no record":          {func(f *inventory.Found) { f.Record = nil }, false},
		"not all is created": {func(f *inventory.Found) { f.Record.Info.Status = helm.StatusPendingInstall }, false},
		"refused":            {func(f *inventory.Found) { f.Record.Info.Status = helm.StatusFailed }, false},
		"another chart": {func(f *inventory.Found) {
			f.Record.Manifest = strings.ReplaceAll(f.Record.Manifest, "data", "binaryData")
		}, false},
		"more objects": {func(f *inventory.Found) { f.Record.Manifest += "---\nkind: Service\n" }, false},
		"no job":       {func(f *inventory.Found) { f.Record.Config = nil }, false},
	} {
		found := inventory.Found{Record: &helm.Release{
			Config: config("job-1"), Manifest: "---\nkind: ConfigMap\nlabels: {job: job-1}\ndata: {}\n",
			Info: &helm.Info{Status: helm.StatusDeployed},
		}}
		c.change(&found)
		wanted := deploy.Deployment{Chart: &release.Rendered{
			Values:   config("job-2"),
			Manifest: "---\nkind: ConfigMap\nlabels: {job: job-2}\ndata: {}\n",
		}}
		if got := (Target{}).OnlyPodMissing(found, wanted); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
