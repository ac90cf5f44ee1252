package detect

import (
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/watch/evidence"
)

// How often a container was restarted is said from the first time on.
func TestRestartsForAHook(t *testing.T) {
	for restarts, want := range map[int32]*int{0: nil, 2: new(2)} {
		c := evidence.Container{}
		c.Status.State.Waiting = &corev1.ContainerStateWaiting{Reason: hookError, Message: "it failed"}
		c.Status.RestartCount = restarts
		if f := HookWait(c); f == nil || !reflect.DeepEqual(f.Restarts, want) {
			t.Errorf("%d restarts: %+v", restarts, f)
		}
	}
}
