package provision

import (
	"context"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/diagnose"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/inventory"
)

// Await follows a workspace that exists until it runs or is certain not to, as Provision
// does after it has created one, and reports on the stream. It changes nothing. The
// outcome is also returned with an error.
func (p *Provisioner) Await(ctx context.Context, t *inventory.Target, stream *event.Stream) (Outcome, error) {
	s := p.in(t.Namespace).session(t.ID, t.Found.WorkloadRef(), stream)
	ctx, stop := context.WithCancel(ctx) // the watches end with it
	defer stop()
	about := deploy.AboutPods(t.ID, t.Namespace, t.Found.UserString(), t.Found.Pods())
	follower, err := s.target.Watch(ctx, t.Found, deploy.Deployment{Objects: t.Found.Claims(), About: about})
	if err != nil {
		return Outcome{}, interrupted(ctx, about, ending{}, err)
	}
	defer follower.Close()
	reading, err := s.report(ctx, about, follower, t.Found.Job(), func() {})
	end := ending{found: t.Found, reading: reading}
	err = s.scripts.Advise(interrupted(ctx, about, end, err), t.ID, t.Namespace)
	w := t.Found.Describe(t.ID, t.Namespace)
	w.Snapshot, w.Timing = reading, s.steps.Timing(s.Client.Requests.Count())
	s.scripts.Describe(&w)
	if w.Stage == "" {
		w.Stage, w.Status = v1.StageUnknown, v1.StatusUnknown
	}
	out := Outcome{Workspace: &w}
	if fault.CodeOf(err) == fault.Failed {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), logTime)
		defer cancel()
		out.Logs = diagnose.Logs(ctx, s.Client, t.Namespace, failedPod(t.ID, reading), reading.Cause)
	}
	return out, err
}
