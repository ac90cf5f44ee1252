package provision

import (
	"cmp"
	"context"
	"fmt"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/inventory"
)

// Stop ends the pods of a workspace that Find has found, and waits until they are gone if
// that is wanted. Everything else stays: its storage, its configuration, its records. What
// is wanted is recorded first, so that it comes about even if the caller is killed in between.
func (p *Provisioner) Stop(ctx context.Context, t *inventory.Target, wait bool, stream *event.Stream) (*v1.Stop,
	error,
) {
	return p.in(t.Namespace).halt(ctx, t, v1.DesiredStopped, wait, stream)
}

// halt ends the pods of a workspace that is to be stopped, or restarted.
func (p *Provisioner) halt(ctx context.Context, t *inventory.Target, desired v1.DesiredState, wait bool,
	stream *event.Stream,
) (*v1.Stop, error) {
	s := p.session(t.ID, t.Found.WorkloadRef(), stream)
	stop := &v1.Stop{ID: t.ID, Namespace: t.Namespace, UserString: t.Found.UserString()}
	ctx, cancel := context.WithCancel(ctx) // the watches end with this call
	defer cancel()
	var removal deploy.Removal
	var wanted lifecycle.Record
	begun := s.Now().UTC()
	err := s.steps.Do("stop", func() (_ string, err error) {
		removal, wanted, err = s.stop(ctx, t.Found, desired, wait)
		return removal.Done, err
	})
	stop.Stopped = err == nil && removal.Gone
	stop.Already = stop.Stopped && wanted.DesiredAt.Before(begun) // one whose pod is gone was not stopped
	var left deploy.Left
	if err == nil && wait && !removal.Gone {
		left, err = s.target.AwaitGone(ctx, removal)
		stop.Stopped = left.Gone
	}
	s.state().ObserveStop(ctx, wanted, stop.Stopped, err)
	stop.Seconds = s.steps.Timing(0).Seconds
	return stop, s.notStopped(ctx, left, err)
}

// stop goes from the permissions to the end of the pods: gather, decide, acquire, record, apply.
func (s session) stop(ctx context.Context, found inventory.Found, desired v1.DesiredState,
	wait bool,
) (removal deploy.Removal, wanted lifecycle.Record, err error) {
	may, err := s.permissions(ctx)
	if err != nil {
		return removal, wanted, err
	}
	if err := s.target.MayStop(may); err != nil {
		return removal, wanted, err
	}
	held, err := s.lockFor(ctx, deploy.ForStopping)
	if err != nil {
		return removal, wanted, err
	}
	defer deploy.Release(ctx, held)
	// It may have been started since, or, where an intent is carried out, stopped by the command
	// that recorded it; a pod is known by its UID.
	if s.Intent != nil || found.Pod == nil && found.Workload == nil {
		if found, err = s.target.Lookup(ctx); err != nil {
			return removal, wanted, err
		}
	}
	if s.Intent != nil && found.Workload == nil && (found.Pod == nil || found.Pod.DeletionTimestamp != nil) {
		return removal, wanted, s.state().Superseded()
	}
	if wanted, err = s.state().Set(ctx, held, desired, found); err != nil {
		return removal, wanted, err
	}
	removal, err = s.target.Stop(ctx, deploy.Turn{Lock: held, Found: found}, wait)
	return removal, wanted, err
}

// notStopped gives a stop that its context ended the reason for that, and what is still
// there.
func (s session) notStopped(ctx context.Context, left deploy.Left, err error) error {
	why, ended := reason(ctx, err)
	switch {
	case !ended:
		return err
	case why.Code != fault.DeadlineExceeded:
		return why
	}
	why.Hint = cmp.Or(left.Hint, "continue with `"+kube.Command("stop", s.id, s.Client.Namespace)+"`")
	return why.WithDetail(cmp.Or(left.What, fmt.Sprintf("workspace %s is not stopped yet", s.id)))
}
