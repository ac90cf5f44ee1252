package injected

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/diagnose"
	"github.com/berthdev/berth/internal/english"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/injection"
	"github.com/berthdev/berth/internal/provision/workload"
	"github.com/berthdev/berth/internal/watch"
	"github.com/berthdev/berth/internal/watch/follow"
)

// How often a rollout is looked at, and how long no pod may have gone until one that
// has failed, or that waits for something, counts as blocked. A start takes its time.
const (
	lookEvery   = 10 * time.Second
	failedTime  = 10 * time.Second
	blockedTime = time.Minute
	readTime    = 3 * time.Second // for what there is to say at the end
)

// AwaitGone waits until no pod has the workspace any more. Pods that keep it by
// themselves are not waited for, nor is a rollout that is blocked: the workspace is out
// of the template, and its pods go when the rollout goes on.
func (t Target) AwaitGone(ctx context.Context, removal deploy.Removal) (deploy.Left, error) {
	w := removal.Found.Workload
	if t.warnIfPodsStay(w) {
		return deploy.Left{}, nil
	}
	left, err := t.awaitClean(ctx, w, removal.Follower, func(pods []*corev1.Pod) {
		t.Steps.Reached(leaving(t.ID, pods, t.Now().UTC()))
	})
	if err == nil && !left.Gone {
		t.Steps.Warn("RolloutBlocked", t.Ref.String(), left.What+"; they go when the rollout does: "+t.rolloutStatus())
	}
	return left, err
}

// awaitClean waits for the rollout of pods without the workspace. Failures of those
// that are terminating are ignored. A pod of a StatefulSet that was created
// meanwhile and cannot become ready would block the rollout: it is deleted.
func (t Target) awaitClean(ctx context.Context, w *workload.Workload, follower *follow.Follower,
	report func([]*corev1.Pod),
) (deploy.Left, error) {
	tried := map[types.UID]bool{}
	count, since := -1, t.Now()
	for {
		var again error
		look, cancel := context.WithTimeout(ctx, lookEvery)
		err := follower.Until(look, func(s watch.State) bool {
			pods := s.Pods()
			for _, pod := range pods {
				if broken(pod) && !tried[pod.UID] {
					tried[pod.UID] = true
					_ = t.deleteStuckPods(ctx, w, "") // it helps, and the waiting goes on without it
				}
			}
			if len(pods) != count {
				count, since = len(pods), t.Now()
				report(pods)
			}
			again = t.injectedAgain(s)
			return count == 0 || again != nil
		})
		cancel()
		switch {
		case count == 0:
			return deploy.Left{Gone: true}, nil
		case again != nil:
			return deploy.Left{}, again
		case ctx.Err() != nil:
			state := follower.State()
			return t.left(state, t.lateReading(ctx, state)), ctx.Err()
		case !errors.Is(err, context.DeadlineExceeded):
			return deploy.Left{}, err
		}
		state, calm := follower.State(), t.Now().Sub(since)
		if calm < failedTime {
			continue
		}
		if reading := t.reading(ctx, state); blocks(state, reading, calm) {
			return t.left(state, reading), nil
		}
	}
}

// injectedAgain is the error of a workload that has the workspace once more: another
// run put it there.
func (t Target) injectedAgain(s watch.State) error {
	object := s.Object()
	if object == nil {
		return nil
	}
	record, err := injection.RecordOf(object.GetAnnotations())
	if err != nil || record == nil || record.CanonicalID != t.ID {
		return nil //nolint:nilerr // it is not in there
	}
	return fault.New(fault.Conflict, "workspace %s was taken out of %s, and has been injected again since", t.ID,
		t.Ref).
		WithHint("delete it again if it is not wanted")
}

// reading is the state of the rollout of pods without the workspace. They are read
// for it: the watches are of those that have it. It is empty if they cannot be read.
func (t Target) reading(ctx context.Context, s watch.State) v1.Snapshot {
	object, ok := s.Object().(runtime.Object)
	if !ok {
		return v1.Snapshot{}
	}
	subject := workload.Subject(t.Client.Namespace, t.Ref)
	around, err := diagnose.GatherAround(ctx, t.Client, subject, object)
	if err != nil {
		return v1.Snapshot{}
	}
	d := around.Diagnose(subject, t.Policy, t.Now())
	return v1.Snapshot{Stage: d.Stage, Status: d.Status, Cause: d.Cause}
}

// lateReading is the same once the time is over.
func (t Target) lateReading(ctx context.Context, s watch.State) v1.Snapshot {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readTime)
	defer cancel()
	return t.reading(ctx, s)
}

// blocks says whether a rollout does not go on, from its reading and the time for which
// no pod has gone. Pods that are terminating go by themselves.
func blocks(s watch.State, reading v1.Snapshot, calm time.Duration) bool {
	for _, pod := range s.Pods() {
		if pod.DeletionTimestamp != nil {
			return false
		}
	}
	if reading.Verdict() == v1.VerdictFailed {
		return calm >= failedTime
	}
	return reading.Cause != nil && !reading.Cause.Tentative && calm >= blockedTime
}

// left says which pods still have the workspace, and what blocks the rollout.
func (t Target) left(s watch.State, reading v1.Snapshot) (left deploy.Left) {
	pods := s.Pods()
	have := "has"
	if len(pods) != 1 {
		have = "have"
	}
	left.What = fmt.Sprintf("workspace %s is out of the template of %s, but %s still %s it", t.ID, t.Ref,
		english.Plural(len(pods), "pod"), have)
	if reading.Cause != nil {
		left.What += ", for the rollout is blocked: " + reading.Cause.Message
	}
	left.Hint = "see how the rollout is doing: " + t.rolloutStatus()
	return left
}

func (t Target) rolloutStatus() string {
	return fault.Command("kubectl", "rollout", "status", t.Ref.String(), "--namespace", t.Client.Namespace)
}
