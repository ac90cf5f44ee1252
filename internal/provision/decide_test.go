package provision

import (
	"testing"

	helm "helm.sh/helm/v3/pkg/release"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/provision/inventory"
)

func TestDecide(t *testing.T) {
	for _, test := range []struct {
		name  string
		found inventory.Found
		want  plan
	}{
		{"nothing there", inventory.Found{}, install},
		{"running", pod(v1.StageRunning), refuse},
		{"running, the record pending", withRecord(helm.StatusPendingInstall), resume},
		{"running, without a record", inventory.Found{Pod: &corev1.Pod{}, Reading: v1.Snapshot{Stage: v1.StageRunning}}, resume},
		{"a record without a pod", inventory.Found{Record: &helm.Release{Info: &helm.Info{Status: helm.StatusDeployed}}}, install},
		{"a half-done release without a pod", inventory.Found{Record: &helm.Release{Info: &helm.Info{Status: helm.StatusPendingInstall}}}, install},
		{"a failed release without a pod", inventory.Found{Record: &helm.Release{Info: &helm.Info{Status: helm.StatusFailed}}}, install},
		{"running, the record failed", withRecord(helm.StatusFailed), resume},
		{"waiting for a node", pod(v1.StageScheduling), resume},
		{"pulling", pod(v1.StagePulling), resume},
		{"initializing", pod(v1.StageInitializing), resume},
		{"starting", pod(v1.StageStarting), resume},
		{"starting, the record pending", half(v1.StageStarting), resume},
		{"nobody knows", pod(v1.StageUnknown), resume},
		{"ending", pod(v1.StageTerminating), await},
		{"ending, without a record", bare(v1.StageTerminating), await},
		{"failed", pod(v1.StageFailed), replace},
		{"failed, the record pending", half(v1.StageFailed), replace},
		{"failed, without a record", bare(v1.StageFailed), replace},
		{"stopped", pod(v1.StageStopped), replace},
		{"stopped, the record pending", half(v1.StageStopped), replace},
		{"stopped, without a record", bare(v1.StageStopped), replace},
		{"asked to stop, still running", stopping(v1.StageRunning), replace},
		{"asked to stop before it ran", stopping(v1.StageStarting), replace},
		{"asked to stop, then deleted", stopping(v1.StageTerminating), await},
	} {
		if got := decide(test.found, false); got != test.want {
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
