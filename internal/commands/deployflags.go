package commands

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/event"
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
func (f *deployFlags) preview(ctx context.Context, a *app, p *provision.Provisioner, u userstring.UserString, format printer.Format) error {
	stream := event.NewStream(u.ID(), time.Now, notes{a.streams})
	changes, err := p.Preview(ctx, u, f.dryRun.server(), stream)
	stream.Finish(v1.Result{})
	return f.dryRun.show(a, format, changes, err)
}

// notes prints the remarks of a stream, and nothing else of it.
type notes struct{ streams terminal.Streams }

// Handle prints a remark.
func (n notes) Handle(e v1.Event) {
	if e.Progress != nil {
		printer.PrintNote(n.streams, e.Progress.Message)
	}
}
