package provision

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/watch"
)

// endedRemoving gives a deletion that its context ended the reason of that: the
// time-out or the signal, and what is still there.
func (r *run) endedRemoving(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	why := *fault.From(context.Cause(ctx))
	if why.Code != fault.DeadlineExceeded {
		return &why
	}
	what := fmt.Sprintf("workspace %s is not removed yet", r.id)
	why.Hint = fmt.Sprintf("go on with `berth delete id/%s`", r.id)
	switch pod := r.remaining(); {
	case r.blocker != "":
		what = fmt.Sprintf("%s is still working on workspace %s", r.blocker, r.id)
	case pod != nil:
		what, why.Hint = remains(pod, r.Now())
	}
	why.Message = fmt.Sprintf("%s: %s", why.Message, what)
	return &why
}

// remaining is the pod that is followed until it is gone.
func (r *run) remaining() *corev1.Pod {
	if r.follower == nil {
		return nil
	}
	pod, gone := r.follower.State().Pod()
	if gone || pod != nil && pod.DeletionTimestamp == nil {
		return nil
	}
	return pod
}

// remains says how a pod stands that has been deleted and does not go, and what
// to do about it.
func remains(pod *corev1.Pod, now time.Time) (what, hint string) {
	left := pod.DeletionTimestamp.Sub(now).Round(time.Second)
	parts := []string{"phase " + string(pod.Status.Phase), fmt.Sprintf("%s of its grace period left", left)}
	hint = fmt.Sprintf("wait on with `berth delete id/%s`", pod.Name)
	if left <= 0 {
		parts[1] = "its grace period is over"
		hint = fmt.Sprintf("its node has not said that its containers ended: kubectl describe pod %s --namespace %s", pod.Name, pod.Namespace)
	}
	if held := watch.HeldBy(pod); held != "" {
		parts = append(parts, held)
		hint = fmt.Sprintf("who set the finalizer has to take it away; if nobody does: kubectl patch pod %s --namespace %s --type merge --patch '{\"metadata\":{\"finalizers\":null}}'",
			pod.Name, pod.Namespace)
	}
	return fmt.Sprintf("pod %s is still there: %s", pod.Name, strings.Join(parts, ", ")), hint
}
