package provision

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/lock"
	"github.com/berthdev/berth/internal/provision/manifest"
)

// OnFailure says what becomes of what a provisioning made that failed or took
// too long.
type OnFailure string

// What can become of it. The default is to keep it, for somebody to look at.
const (
	KeepOnFailure   OnFailure = "keep"
	DeleteOnFailure OnFailure = "delete"
)

// undoTime is how long removing what was made may take, and goneTime how long
// of that its pod is waited for: it may have a grace period.
const (
	undoTime = 60 * time.Second
	goneTime = 40 * time.Second
	gonePoll = 250 * time.Millisecond
)

// creation is what a run knows about what it made.
type creation struct {
	changes apply.Changes // of the objects that it wanted
	// begun is set once something else may have been written: the record, or the
	// patch of a workload. The answer may not have been heard.
	begun bool
	// replaced is true if the workload had the workspace before.
	replaced bool
}

func (c *creation) begin() { c.begun = true }

func (c *creation) add(changes apply.Changes) { c.changes = append(c.changes, changes...) }

func (c *creation) any() bool { return c.begun || len(c.changes.With(apply.Created)) > 0 }

// of chooses from the objects that were wanted those that are this run's to
// remove: what it made and, where there was no workspace before, whatever it may
// have made without hearing the answer. A claim holds what a user made: it goes
// only if this run is known to have made it.
func (c *creation) of(objects []*unstructured.Unstructured, first bool) (mine []*unstructured.Unstructured) {
	for _, object := range objects {
		change, known := c.changes.Of(object)
		switch {
		case change.Action == apply.Created:
			mine = append(mine, change.Object) // this very one, by its UID
		case first && !known && object.GetKind() != "PersistentVolumeClaim":
			mine = append(mine, object)
		}
	}
	return mine
}

// settle removes what this run made if it has not come to anything and that was
// asked for. The lock is still held; what there is to say about the failure is
// collected before.
func (r *run) settle(ctx context.Context, held *lock.Lock, err error) error {
	why := r.ended(ctx, err)
	if code := fault.CodeOf(why); code != fault.Failed && code != fault.DeadlineExceeded {
		return err
	}
	if r.OnFailure != DeleteOnFailure || !r.creation.any() {
		return err
	}
	final := r.outcome(ctx, why)
	final.Left = v1.LeftDeleted
	undoErr := r.steps.do("remove", func() (string, error) { return r.undo(ctx, held) })
	if undoErr != nil {
		final.Left = v1.LeftKept
		final.Problems = []string{r.notUndone() + ": " + fault.From(undoErr).Message}
	}
	r.final = &final
	return err
}

func (r *run) notUndone() string {
	if w := r.found.Workload; w != nil {
		return "the workspace was not taken out of " + w.Ref.String()
	}
	return "what was created could not be removed"
}

// undo removes what this run made. The time-out that may have ended the run does
// not count for it, nor does an interruption: a second one leaves at once.
func (r *run) undo(ctx context.Context, held *lock.Lock) (string, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTime)
	defer cancel()
	select {
	case <-held.Lost():
		return "", lock.ErrTaken
	default:
	}
	if err := held.Confirm(ctx); err != nil {
		return "", err
	}
	if r.found.Workload != nil {
		return r.undoInjection(ctx)
	}
	before := r.found
	first := before.Record == nil && (before.Pod == nil || before.Reading.Verdict() == v1.VerdictTerminating)
	mine := r.creation.of(r.rendered.Objects, first)
	removed, err := r.installer().Remove(ctx, mine)
	if err == nil && first {
		_, err = r.installer().Remove(ctx, manifest.Certified(mine))
	}
	if err == nil && first {
		err = r.Records().Purge(ctx, r.id)
	}
	if err != nil {
		return "", err
	}
	text := fmt.Sprintf("%d objects", len(removed))
	if !r.madePodGone(ctx) {
		text += ", the pod is still ending"
	}
	return text, nil
}

// madePodGone waits until the pod that was made is gone. The watch of it may
// have ended with the run.
func (r *run) madePodGone(ctx context.Context) bool {
	err := wait.PollUntilContextTimeout(ctx, gonePoll, goneTime, true, func(ctx context.Context) (bool, error) {
		pod, err := r.Client.CoreV1().Pods(r.namespace).Get(ctx, r.id, metav1.GetOptions{})
		if err != nil {
			return apierrors.IsNotFound(err), nil
		}
		made, _ := r.creation.changes.With(apply.Created).Of(kube.Named("Pod", r.id))
		return made.Object == nil || pod.UID != made.Object.GetUID(), nil
	})
	return err == nil
}

// left is what is there after a run that gave up, as far as it is known.
func (r *run) left(err error, w *v1.Workspace) v1.Left {
	switch fault.CodeOf(err) {
	case fault.Failed, fault.DeadlineExceeded, fault.Interrupted, fault.Terminated:
	default:
		return ""
	}
	if r.creation.any() || r.found.Record != nil || w != nil && !w.CreatedAt.IsZero() {
		return v1.LeftKept
	}
	return ""
}
