package commands

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/provision"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/userstring"
)

// historyFlag is --history of `berth status`.
type historyFlag struct{ on bool }

func (h *historyFlag) register(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&h.on, "history", false, "show all that happened when it was provisioned, also if it is gone by now")
}

// run prints the jobs of a workspace with everything in them, the newest first.
func (h *historyFlag) run(ctx context.Context, a *app, cmd *cobra.Command, p *provision.Provisioner, args []string, output outputFlag) error {
	if len(args) == 0 {
		return usage(cmd, fault.New(fault.InvalidArgument, "--history needs a workspace"))
	}
	stores, err := a.jobStores(ctx, cmd, p.Client)
	if err != nil {
		return err
	}
	if stores == nil {
		return fault.New(fault.InvalidArgument, "no records of jobs are kept: jobs.store is none")
	}
	defer stores.Close()
	records, err := a.listJobs(ctx, stores)
	if err != nil {
		return err
	}
	list := jobList(records, args[0])
	if len(list.Items) == 0 {
		return fault.New(fault.NotFound, "there is no record of provisioning %s", args[0]).
			WithHint("records are kept for 48 hours if nothing else is configured; `berth jobs` lists them")
	}
	return printer.PrintHistory(a.streams, output.format, list)
}

// workspaceNames are the canonical IDs that an argument can mean.
func workspaceNames(arg string) []string {
	if name, ok := strings.CutPrefix(arg, "id/"); ok {
		return []string{name}
	}
	names := []string{arg}
	if u, err := userstring.Parse(arg); err == nil {
		names = append(names, u.ID())
	}
	return names
}
