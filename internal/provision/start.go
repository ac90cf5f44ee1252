package provision

import (
	"context"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/userstring"
)

// Start brings up a workspace that was stopped, as it was: what it is made of comes from
// its records, its blueprint is not read. It ends as Provision does.
func (p *Provisioner) Start(ctx context.Context, t *inventory.Target, stream *event.Stream) (Outcome, error) {
	return p.in(t.Namespace).start(ctx, t, t.Found.UserString(), stream)
}

// start is Start of the workspace of a user string; if that is empty, what is recorded says it.
func (p *Provisioner) start(ctx context.Context, t *inventory.Target, user string, stream *event.Stream) (Outcome, error) {
	if user == "" && p.keepsStates() {
		r, err := p.states().Get(ctx, t.ID)
		if err != nil {
			return Outcome{}, interrupted(ctx, nil, ending{}, err)
		}
		user = r.UserString
	}
	u, err := userstring.ParseCanonical(user)
	if err != nil {
		return Outcome{}, fault.New(fault.Failed, "the user string of workspace %s is not known: %w", t.ID, err).
			WithHint("provision it again by its user string")
	}
	s := p.begin(u, stream)
	ctx, stop := context.WithCancel(ctx) // the watches end with the run
	defer stop()
	in, err := s.recall(ctx, t.Found)
	if err != nil {
		return Outcome{}, interrupted(ctx, nil, ending{}, err)
	}
	if in.plan == deploy.Refuse {
		return s.stays(ctx, in)
	}
	return s.run(ctx, in)
}

// Restart stops a workspace and starts it again, as it was. What it is meant to be says so
// in between, so that whoever is killed leaves a restart rather than a stop.
func (p *Provisioner) Restart(ctx context.Context, t *inventory.Target, stream *event.Stream) (Outcome, error) {
	p = p.in(t.Namespace)
	if _, err := p.halt(ctx, t, v1.DesiredRestart, true, stream); err != nil {
		return Outcome{}, err
	}
	stopped := *t
	var err error
	if stopped.Found, err = p.session(t.ID, t.Found.WorkloadRef(), stream).target.Lookup(ctx); err != nil {
		return Outcome{}, err
	}
	return p.start(ctx, &stopped, t.Found.UserString(), stream)
}
