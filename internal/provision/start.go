package provision

import (
	"context"

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
func (p *Provisioner) start(ctx context.Context, t *inventory.Target, user string, stream *event.Stream) (Outcome,
	error,
) {
	u, err := p.userOf(ctx, t.ID, user)
	if err != nil {
		return Outcome{}, interrupted(ctx, nil, ending{}, err)
	}
	s := p.begin(u, stream)
	ctx, stop := context.WithCancel(ctx) // the watches end with the run
	defer stop()
	in, err := s.loadRecorded(ctx, t.Found)
	if err != nil {
		return Outcome{}, interrupted(ctx, nil, ending{}, err)
	}
	if in.plan == deploy.Refuse {
		return s.alreadyUpToDate(ctx, in)
	}
	return s.run(ctx, in)
}

// userOf is the user string of a workspace, as its objects say; if that is empty, as is recorded.
func (p *Provisioner) userOf(ctx context.Context, id, user string) (userstring.UserString, error) {
	if user == "" && p.keepsStates() {
		r, err := p.states().Get(ctx, id)
		if err != nil {
			return userstring.UserString{}, err
		}
		user = r.UserString
	}
	u, err := userstring.ParseCanonical(user)
	if err != nil {
		err = fault.New(fault.Failed, "the user string of workspace %s is not known: %w", id, err).
			WithHint("provision it again by its user string")
	}
	return u, err
}
