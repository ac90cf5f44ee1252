package provision

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/lock"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/rbac"
	"github.com/berthdev/berth/internal/watch"
	"github.com/berthdev/berth/internal/watch/follow"
)

// Delete removes a workspace that Find has found and waits until its pod is gone,
// unless noWait is set. What the namespace's workspaces share stays.
func (p *Provisioner) Delete(ctx context.Context, t *inventory.Target, noWait bool, stream *event.Stream) (*v1.Deletion, error) {
	p = p.in(t.Namespace)
	s := p.session(t.ID, t.Found.WorkloadRef(), stream)
	deletion := &v1.Deletion{ID: t.ID, Namespace: t.Namespace}
	ctx, stop := context.WithCancel(ctx) // the watches end with this call
	defer stop()
	var removal deploy.Removal
	err := s.steps.Do("remove", func() (_ string, err error) {
		removal, err = s.remove(ctx, t.Found, !noWait)
		return removal.Done, err
	})
	deletion.Objects, deletion.Gone = removal.Objects, err == nil && removal.Gone
	if err == nil && !noWait && !removal.Gone {
		deletion.Gone, err = s.target.AwaitGone(ctx, removal)
	}
	deletion.Seconds = s.steps.Timing(0).Seconds
	return deletion, s.notRemoved(ctx, removal.Follower, err)
}

// remove checks the permissions, takes the lock, and removes what there is by then.
// The lock is released before the pod is gone, which a new provisioning waits for.
func (s session) remove(ctx context.Context, found inventory.Found, wait bool) (deploy.Removal, error) {
	review, err := rbac.Ask(ctx, s.Client, s.Client.Namespace)
	if err != nil {
		return deploy.Removal{}, err
	}
	if err := s.target.MayRemove(ctx, found, deploy.Permissions{Review: review}); err != nil {
		return deploy.Removal{}, err
	}
	held, err := s.lockForDelete(ctx)
	if err != nil {
		return deploy.Removal{}, err
	}
	defer s.release(ctx, held)
	return s.target.Remove(ctx, deploy.Turn{Lock: held, Found: found}, wait)
}

func (s session) lockForDelete(ctx context.Context) (*lock.Lock, error) {
	locker := s.locker(forDeleting)
	held, holder, err := locker.Try(ctx, s.id, nil)
	switch {
	case held != nil || err != nil:
		return held, err
	case !s.WaitForLock:
		return s.expire(ctx, locker, holder)
	}
	s.steps.Note("waiting for %s", holder.Holder.Human())
	held, err = locker.Wait(ctx, s.id, holder, nil)
	if err != nil && ctx.Err() != nil {
		err = fault.New(fault.Conflict, "%s is still working on workspace %s", holder.Holder.Human(), s.id)
	}
	return held, err
}

// notRemoved gives a deletion that its context ended the reason for that, the
// time-out or the signal, and what is still there.
func (s session) notRemoved(ctx context.Context, follower *follow.Follower, err error) error {
	why, ended := reason(ctx, err)
	if !ended {
		return err
	}
	if why.Code != fault.DeadlineExceeded {
		return why
	}
	what := fmt.Sprintf("workspace %s is not removed yet", s.id)
	why.Hint = fmt.Sprintf("continue with `berth delete id/%s`", s.id)
	if fault.CodeOf(err) == fault.Conflict { // another run has the lock
		what = fault.From(err).Message
	} else if pod := terminating(follower); pod != nil {
		what, why.Hint = stillThere(pod, s.Now())
	}
	return why.WithDetail(what)
}

// terminating is the pod that is followed until it is gone; nil without one.
func terminating(follower *follow.Follower) *corev1.Pod {
	if follower == nil {
		return nil
	}
	pod, gone := follower.State().Pod()
	if gone || pod != nil && pod.DeletionTimestamp == nil {
		return nil
	}
	return pod
}

// stillThere describes a pod that has been deleted and is not gone, and says what
// to do about it.
func stillThere(pod *corev1.Pod, now time.Time) (what, hint string) {
	left := pod.DeletionTimestamp.Sub(now).Round(time.Second)
	parts := []string{"phase " + string(pod.Status.Phase), fmt.Sprintf("%s of its grace period left", left)}
	hint = fmt.Sprintf("keep waiting with `berth delete id/%s`", pod.Name)
	if left <= 0 {
		parts[1] = "its grace period has expired"
		hint = fmt.Sprintf("its node has not reported that its containers ended: kubectl describe pod %s --namespace %s", pod.Name, pod.Namespace)
	}
	if held := watch.HeldBy(pod); held != "" {
		parts = append(parts, held)
		hint = fmt.Sprintf("whatever set the finalizer has to remove it; if nothing does: kubectl patch pod %s --namespace %s --type merge --patch '{\"metadata\":{\"finalizers\":null}}'",
			pod.Name, pod.Namespace)
	}
	return fmt.Sprintf("pod %s is still there: %s", pod.Name, strings.Join(parts, ", ")), hint
}

// Forget deletes the lock that a killed run may have left on a workspace that is
// gone.
func (p *Provisioner) Forget(ctx context.Context, arg inventory.Argument) {
	for _, id := range arg.IDs() {
		p.in(arg.Namespace).locker(forDeleting).Sweep(ctx, id)
	}
}
