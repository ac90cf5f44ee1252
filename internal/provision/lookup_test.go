package provision

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
)

func TestDecide(t *testing.T) {
	for _, test := range []struct {
		name  string
		found found
		want  plan
	}{
		{"nothing there", found{}, install},
		{"running", pod(v1.StageRunning), refuse},
		{"waiting for a node", pod(v1.StageScheduling), resume},
		{"pulling", pod(v1.StagePulling), resume},
		{"starting", pod(v1.StageStarting), resume},
		{"ending", pod(v1.StageTerminating), await},
		{"failed", pod(v1.StageFailed), replace},
		{"stopped", pod(v1.StageStopped), replace},
	} {
		if got := test.found.decide(); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

func pod(stage v1.Stage) found {
	return found{pod: &corev1.Pod{}, reading: v1.Snapshot{Stage: stage}}
}
