package standalone

import (
	"testing"

	helm "helm.sh/helm/v3/pkg/release"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/inventory"
)

func TestDecide(t *testing.T) {
	for _, test := range []struct {
		name  string
		found inventory.Found
		want  deploy.Plan
	}{
		{"nothing there", inventory.Found{}, deploy.Create},
		{"running", pod(v1.StageRunning), deploy.Refuse},
		{"running, the record pending", withRecord(helm.StatusPendingInstall), deploy.Resume},
		{
			"running, without a record",
			inventory.Found{Pod: &corev1.Pod{}, Reading: v1.Snapshot{Stage: v1.StageRunning}},
			deploy.Resume,
		},
		{
			"a record without a pod",
			inventory.Found{Record: &helm.Release{Info: &helm.Info{Status: helm.StatusDeployed}}},
			deploy.Install,
		},
		{
			"a half-done release without a pod",
			inventory.Found{Record: &helm.Release{Info: &helm.Info{Status: helm.StatusPendingInstall}}},
			deploy.Install,
		},
		{
			"a failed release without a pod",
			inventory.Found{Record: &helm.Release{Info: &helm.Info{Status: helm.StatusFailed}}},
			deploy.Install,
		},
		{"running, the record failed", withRecord(helm.StatusFailed), deploy.Resume},
		{"waiting for a node", pod(v1.StageScheduling), deploy.Resume},
		{"pulling", pod(v1.StagePulling), deploy.Resume},
		{"initializing", pod(v1.StageInitializing), deploy.Resume},
		{"starting", pod(v1.StageStarting), deploy.Resume},
		{"starting, the record pending", half(v1.StageStarting), deploy.Resume},
		{"unknown", pod(v1.StageUnknown), deploy.Resume},
		{"terminating", pod(v1.StageTerminating), deploy.Await},
		{"terminating, without a record", bare(v1.StageTerminating), deploy.Await},
		{"failed", pod(v1.StageFailed), deploy.Replace},
		{"failed, the record pending", half(v1.StageFailed), deploy.Replace},
		{"failed, without a record", bare(v1.StageFailed), deploy.Replace},
		{"stopped", pod(v1.StageStopped), deploy.Replace},
		{"stopped, the record pending", half(v1.StageStopped), deploy.Replace},
		{"stopped, without a record", bare(v1.StageStopped), deploy.Replace},
		{"asked to stop, still running", stopping(v1.StageRunning), deploy.Replace},
		{"asked to stop before it ran", stopping(v1.StageStarting), deploy.Replace},
		{"asked to stop, then deleted", stopping(v1.StageTerminating), deploy.Await},
	} {
		if got := (Target{}).Decide(test.found, deploy.Deployment{}); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

func pod(stage v1.Stage) inventory.Found {
	f := withRecord(helm.StatusDeployed)
	f.Reading.Stage = stage
	return f
}

// half is a pod whose record is not complete, and bare one that has none.
func half(stage v1.Stage) inventory.Found {
	f := withRecord(helm.StatusPendingInstall)
	f.Reading.Stage = stage
	return f
}

func bare(stage v1.Stage) inventory.Found {
	f := pod(stage)
	f.Record = nil
	return f
}

func stopping(stage v1.Stage) inventory.Found {
	f := pod(stage)
	f.Reading.Status = v1.StatusStopping
	return f
}

func withRecord(status helm.Status) inventory.Found {
	return inventory.Found{
		Pod: &corev1.Pod{}, Reading: v1.Snapshot{Stage: v1.StageRunning},
		Record: &helm.Release{Info: &helm.Info{Status: status}},
	}
}
