// Package update is the command `berth update`.
package update

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/commands/batch"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/provision"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
)

// Options are what the command line says.
type Options struct {
	IO          terminal.Streams
	Provisioner func() (*provision.Provisioner, error)
	Recorders   func(context.Context) (*cmdutil.Recorders, error)
	// Flags say which cluster is meant, for commands that are proposed.
	Flags []string

	UserString string
	Rollback   bool // to what it was before the last update
	Yes        bool // without a question
	Wait       bool // for another command that works on it
	NoWait     bool // until it runs
	Force      bool // injection where it is risky
	Timing     bool
	Timeout    time.Duration
	Timed      bool // Timeout is given
	StuckAfter time.Duration
	DryRun     apply.DryRun
	Set        cmdutil.SetFlags
	Output     printer.Format
}

const long = `Bring a workspace to what its blueprint, --image and --set say now, and follow it until
it can be entered. Its storages are kept, with homes and repositories. A workspace that
is stopped, or that failed, is brought up.

What differs is shown first, and at a terminal you are asked to confirm; --yes skips the
question. Without a terminal, nothing is asked. If nothing differs, a workspace that runs
stays as it is. With --dry-run, the objects that would change are printed.

Before the pod is replaced, permissions and storages are checked, and the API server
checks all objects (quota, admission): if one is refused, nothing was changed and the
workspace runs on. A storage can grow, if its storage class allows that; any other
change of a claim is refused. What a blueprint has no more stays until the workspace is
deleted if it is storage, and is removed otherwise. Shared storages stay as they are.

If the new pod then fails, it is kept for inspection, and so are the storages. Each
update is a revision of Helm's record ("helm history"). With --rollback, a workspace is
brought back to what it was before the last update; no blueprint is read.

A workspace in a workload is replaced by one patch of the pod template, and its rollout
is followed.`

// NewCmd makes the command.
func NewCmd(f *cmdutil.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{IO: f.IO}
	cmd := &cobra.Command{
		Use:        "update USERSTR",
		SuggestFor: []string{"upgrade"},
		Short:      "Bring a workspace to what its blueprint says now, and keep its storage",
		Long:       long,
		Example: `  berth update alice~dev
  berth update alice~dev --image registry.example.com/dev:2 --yes
  berth update alice~dev --set resources.cpu=2 --dry-run=server
  berth update alice~dev --rollback`,
		Args:              cmdutil.OneArg("user string"),
		ValidArgsFunction: f.CompleteWorkspaces,
		RunE: cmdutil.RunE(o, runF, func(cmd *cobra.Command, args []string) error {
			o.UserString, o.Flags = args[0], cmdutil.ClusterFlags(cmd)
			o.Timed = cmd.Flags().Changed("timeout")
			return o.validate()
		}),
	}
	deps, flags := f.For(cmd), cmd.Flags()
	o.Provisioner, o.Recorders = deps.Provisioner, deps.Recorders
	cmdutil.AddOutputFlag(cmd, &o.Output, "text", "json", "yaml", "jsonl", "name", "jsonpath=", "go-template=")
	cmdutil.AddTimeoutFlag(cmd, &o.Timeout)
	flags.BoolVar(&o.Rollback, "rollback", false, "bring it back to what it was before the last update")
	flags.BoolVarP(&o.Yes, "yes", "y", false, "do not ask for confirmation")
	flags.BoolVar(&o.Wait, "wait", false, "if another command works on the workspace, wait for that instead of failing")
	flags.BoolVar(&o.NoWait, "no-wait", false, "exit once everything is created, without waiting for the "+
		"workspace to run")
	flags.BoolVar(&o.Force, "force", false,
		"inject into a workload even if its rollout is paused, it has no replicas, or only one of them can "+
			"mount the storage")
	flags.BoolVar(&o.Timing, "timing", false, "print the time of each step and the number of API requests")
	cmdutil.AddPolicyFlags(cmd)
	cmdutil.AddStuckAfterFlag(cmd, &o.StuckAfter)
	cmdutil.AddDryRunFlag(cmd, &o.DryRun)
	cmdutil.AddBlueprintFlags(cmd)
	o.Set.Add(cmd)
	return cmd
}

// validate finds what is wrong with the command line.
func (o *Options) validate() error {
	if o.Rollback && (o.Set.Image != "" || len(o.Set.Fields) > 0) {
		return fault.New(fault.InvalidArgument, "--rollback and --image or --set are mutually exclusive")
	}
	if err := cmdutil.CheckStuckAfter(o.StuckAfter, o.NoWait); err != nil {
		return err
	}
	return cmdutil.CheckTimeout(o.Timeout)
}

// Run updates the workspace.
func Run(ctx context.Context, o *Options) error {
	ctx, cancel := cmdutil.WithTimeout(ctx, o.Timeout)
	defer cancel()
	u, err := cmdutil.ParseNewUser(o.UserString) // before the cluster is asked
	if err != nil {
		return err
	}
	overrides, err := o.Set.Overrides()
	if err != nil {
		return err
	}
	p, err := cmdutil.Await(ctx, o.Provisioner)
	if err != nil {
		return err
	}
	if u, err = p.Named(ctx, u); err != nil {
		return cmdutil.Because(ctx, err)
	}
	recorders, err := o.Recorders(ctx)
	if err != nil {
		return err
	}
	defer recorders.Close()
	p.States, p.Overrides = recorders.States(p.Client), overrides
	p.WaitForLock, p.NoWait, p.ForceInjection = o.Wait, o.NoWait, o.Force
	updating := batch.Updating{
		IO: o.IO, Output: o.Output, Flags: o.Flags, Verb: "update", Yes: o.Yes, Timing: o.Timing, SSH: cmdutil.HasSSH(),
		Timed: o.Timed || o.Wait, How: provision.Updating{DryRun: o.DryRun, Rollback: o.Rollback},
	}
	return updating.Run(ctx, p, u, recorders)
}
