package provision

import (
	"cmp"
	"context"
	"fmt"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/lock"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/provision/inventory/recorded"
	"github.com/berthdev/berth/internal/userstring"
)

// FindToDelete finds a workspace or, if there is none, the storage that was kept of it, or
// what is recorded of it.
func (p *Provisioner) FindToDelete(ctx context.Context, arg inventory.Argument) (*inventory.Target, error) {
	target, err := p.FindRecorded(ctx, arg)
	if fault.CodeOf(err) != fault.NotFound {
		return target, err
	}
	kept, keptErr := p.FindKept(ctx, arg)
	switch fault.CodeOf(keptErr) {
	case fault.NotFound, fault.PermissionDenied: // without the right to list claims, the error is about the workspace
		return p.onlyRecorded(ctx, arg, err)
	}
	return kept, keptErr
}

// Delete removes a workspace that FindToDelete has found and waits until its pod is gone,
// if that is wanted. What the namespace's workspaces share stays.
func (p *Provisioner) Delete(ctx context.Context, t *inventory.Target, how deploy.Removing,
	stream *event.Stream,
) (*v1.Deletion, error) {
	p = p.in(t.Namespace)
	s := p.session(t.ID, t.Found.WorkloadRef(), stream)
	deletion := &v1.Deletion{ID: t.ID, Namespace: t.Namespace}
	ctx, stop := context.WithCancel(ctx) // the watches end with this call
	defer stop()
	var removal deploy.Removal
	var wanted lifecycle.Record
	err := s.steps.Do("remove", func() (_ string, err error) {
		removal, wanted, err = s.remove(ctx, t.Found, how)
		if kube.IsNamespaceMissing(err) { // what is recorded in NATS has outlived it
			s.state().DeleteStale(ctx)
			removal.Gone, err = true, nil
		}
		return removal.Done, err
	})
	deletion.Objects, deletion.Storage, deletion.Gone = removal.Objects, removal.Storage, err == nil && removal.Gone
	if err == nil { // what is left is up to the cluster
		s.state().Forget(ctx, wanted)
	}
	var left deploy.Left
	if err == nil && how.Wait && !removal.Gone {
		left, err = s.target.AwaitGone(ctx, removal)
		deletion.Gone = left.Gone
	}
	deletion.Seconds = s.steps.Timing(0).Seconds
	return deletion, s.notRemoved(ctx, how, left, err)
}

// remove goes from the permissions to the end of the objects: gather, decide, acquire, record, apply.
// The lock is released before the pod is gone, which a new provisioning waits for.
func (s session) remove(ctx context.Context, found inventory.Found, how deploy.Removing) (removal deploy.Removal,
	wanted lifecycle.Record, err error,
) {
	may, err := s.permissions(ctx)
	if err != nil {
		return removal, wanted, err
	}
	if err := s.target.MayRemove(ctx, found, may); err != nil {
		return removal, wanted, err
	}
	held, err := s.lockFor(ctx, deploy.ForDeleting)
	if err != nil {
		return removal, wanted, err
	}
	defer deploy.Release(ctx, held)
	if wanted, err = s.state().SetGone(ctx, held, how.KeepStorage); err != nil {
		return removal, wanted, err
	}
	if s.Intent != nil {
		how.KeepStorage = !s.Intent.DeletesStorage(wanted)
	}
	removal, err = s.target.Remove(ctx, deploy.Turn{Lock: held, Found: found}, how)
	return removal, wanted, err
}

// lockFor takes the lock to end the workspace, or a part of it.
func (s session) lockFor(ctx context.Context, purpose string) (*lock.Lock, error) {
	locker := deploy.Locker(s.Reader, purpose)
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
func (s session) notRemoved(ctx context.Context, how deploy.Removing, left deploy.Left, err error) error {
	why, ended := reason(ctx, err)
	if !ended {
		return err
	}
	if why.Code != fault.DeadlineExceeded {
		return why
	}
	what := cmp.Or(left.What, fmt.Sprintf("workspace %s is not removed yet", s.id))
	why.Hint = cmp.Or(left.Hint, "continue with `"+how.Command(s.id, s.Client.Namespace)+"`")
	if fault.CodeOf(err) == fault.Conflict { // another run has the lock
		what = fault.From(err).Message
	}
	return why.WithDetail(what)
}

// Forget deletes the lock and the record that a killed run may have left of a workspace
// that is gone.
func (p *Provisioner) Forget(ctx context.Context, arg inventory.Argument) {
	for _, id := range arg.AllIDs() {
		state := p.State(arg.Namespace, id, userstring.Workload{})
		deploy.Locker(state.Reader, deploy.ForDeleting).Sweep(ctx, id)
		state.DeleteStale(ctx)
	}
}

// FindRecorded is Find that also finds a workspace which is not in its workload, by what is
// recorded of it: an ID does not say which workload that is.
func (p *Provisioner) FindRecorded(ctx context.Context, arg inventory.Argument) (*inventory.Target, error) {
	target, err := p.Find(ctx, arg)
	if fault.CodeOf(err) != fault.NotFound || p.States.Client == nil {
		return target, err
	}
	r, recordErr := p.recordOf(ctx, arg)
	if recordErr != nil {
		return nil, recordErr
	}
	again, parseErr := inventory.ParseRecorded(r.UserString)
	if parseErr != nil || again.Text == arg.Text {
		return nil, err
	}
	again.Namespace = arg.Namespace
	return p.Find(ctx, again)
}

// recordOf is the record of the workspace that an argument means, as far as it can be read.
func (p *Provisioner) recordOf(ctx context.Context, arg inventory.Argument) (lifecycle.Record, error) {
	r, err := recorded.Find(ctx, p.States, p.in(arg.Namespace).Client.Namespace, arg)
	if fault.ReasonOf(err) == lifecycle.ReasonUnreadable {
		err = nil
	}
	return r, err
}

// onlyRecorded is a workspace of which there is nothing but its record, since somebody else
// has removed it; otherwise notFound. One that is being deleted is gone.
func (p *Provisioner) onlyRecorded(ctx context.Context, arg inventory.Argument, notFound error) (*inventory.Target,
	error,
) {
	if p.States.Client == nil {
		return nil, notFound
	}
	r, err := p.recordOf(ctx, arg)
	if err != nil {
		return nil, err
	}
	if r.ID == "" || r.Desired == v1.DesiredTerminated {
		return nil, notFound
	}
	return &inventory.Target{ID: r.ID, Namespace: r.Namespace}, nil
}

// PreviewDelete is what Delete would remove: of what the workspace can have, what
// exists.
func (p *Provisioner) PreviewDelete(ctx context.Context, t *inventory.Target, how deploy.Removing) (apply.Changes,
	error,
) {
	s := p.in(t.Namespace).session(t.ID, t.Found.WorkloadRef(), nil)
	changes, err := s.target.PreviewRemove(ctx, t.Found, how)
	return shown(changes), err
}
