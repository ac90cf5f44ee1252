package provision

import (
	"context"

	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/commands/batch"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/provision"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/userstring"
)

// preview prints what the provisioning would change.
func (o *Options) preview(ctx context.Context, p *provision.Provisioner, u userstring.UserString) error {
	changes, err := batch.Preview(o.IO, u.ID(), func(stream *event.Stream) (apply.Changes, error) {
		return p.Preview(ctx, u, o.DryRun, stream)
	})
	if o.IfNotExists && fault.CodeOf(err) == fault.AlreadyExists {
		printer.PrintNote(o.IO, fault.From(err).Message)
		changes, err = nil, nil
	}
	return batch.PrintChanges(ctx, o.IO, o.Output, o.DryRun, changes, err)
}

// dryRun is preview, for which the workspaces are counted that have no pod as well, if their
// number is limited.
func (o *Options) dryRun(ctx context.Context, p *provision.Provisioner, u userstring.UserString) error {
	if p.Allowance == nil {
		return o.preview(ctx, p, u)
	}
	states, done, err := o.States(ctx)
	if err != nil {
		return err
	}
	defer done()
	p.States = states
	return o.preview(ctx, p, u)
}
