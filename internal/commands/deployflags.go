package commands

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/provision"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/userstring"
)

// deployFlags say how far a provisioning goes.
type deployFlags struct {
	createNamespace bool
	noWait          bool
	dryRun          dryRunFlag
}

func (f *deployFlags) register(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.createNamespace, "create-namespace", false, "make the namespace if it does not exist")
	cmd.Flags().BoolVar(&f.noWait, "no-wait", false, "end once everything is created, without waiting for the workspace to run")
	f.dryRun.register(cmd)
}

func (f *deployFlags) configure(p *provision.Provisioner) {
	p.CreateNamespace, p.NoWait = f.createNamespace, f.noWait
}

// preview prints what a provisioning would change.
func (o *provisionOptions) preview(ctx context.Context, a *app, p *provision.Provisioner, u userstring.UserString) error {
	stream := event.NewStream(u.ID(), time.Now, notes{a.streams})
	dryRun := &o.deploy.dryRun
	changes, err := p.Preview(ctx, u, dryRun.server(), stream)
	stream.Finish(v1.Result{})
	if o.ifNotExists && fault.CodeOf(err) == fault.AlreadyExists {
		printer.PrintNote(a.streams, fault.From(err).Message)
		changes, err = nil, nil
	}
	return dryRun.show(ctx, a, o.output.format, changes, err)
}

// notes prints the remarks of a stream, and nothing else of it.
type notes struct{ streams terminal.Streams }

// Handle prints a remark.
func (n notes) Handle(e v1.Event) {
	if e.Progress != nil {
		printer.PrintNote(n.streams, e.Progress.Message)
	}
}
