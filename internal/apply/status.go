package apply

import (
	"context"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// State is how far the cluster is with an object.
type State string

// An object is as it was wanted, on its way there, or will not get there by
// itself.
const (
	Current    State = "Current"
	InProgress State = "InProgress"
	Failed     State = "Failed"
)

// StateOf reads the state of an object from its status, by the rules of kstatus.
// The message says why.
func StateOf(object *unstructured.Unstructured) (State, string) {
	result, err := status.Compute(object)
	if err != nil {
		return Failed, err.Error()
	}
	switch result.Status {
	case status.CurrentStatus:
		return Current, result.Message
	case status.FailedStatus:
		return Failed, result.Message
	}
	return InProgress, result.Message
}

// How often a custom resource definition is looked at until it can be used, and
// for how long.
const (
	establishedPoll = 100 * time.Millisecond
	establishedTime = 30 * time.Second
)

// established waits until the custom resource definitions of a wave can be used.
func (r *run) established(ctx context.Context, wave []*item) error {
	if r.DryRun != DryRunNone {
		return nil
	}
	return sideBySide(ctx, wave, func(ctx, waiting context.Context, it *item) error {
		if !isKind(it.Object, kindDefinition) {
			return nil
		}
		state, message := StateOf(it.change.Object)
		err := wait.PollUntilContextTimeout(waiting, establishedPoll, establishedTime, true, func(context.Context) (bool, error) {
			if state != InProgress {
				return true, nil
			}
			current, err := it.api.Get(ctx, it.name, metav1.GetOptions{})
			if err != nil {
				return false, kube.Fault(err, it.call("get"))
			}
			it.change.Object = current
			state, message = StateOf(current)
			return state != InProgress, nil
		})
		if state == Failed || wait.Interrupted(err) && waiting.Err() == nil {
			return fault.New(fault.Failed, "%s is not established: %s", it.describe(), message).
				WithHint("see why: %s", it.kubectlGet())
		}
		return err
	})
}
