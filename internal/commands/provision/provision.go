// Package provision is the command `berth provision`.
package provision

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/commands/batch"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/provision"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
)

// Options are what the command line says.
type Options struct {
	IO          terminal.Streams
	Provisioner func() (*provision.Provisioner, error)
	Recorders   func(context.Context) (*cmdutil.Recorders, error)
	States      func(context.Context) (lifecycle.Place, func(), error)
	Workspaces  func() (inventory.Reader, error)
	Ended       func(v1.Result) // is told what became of the workspaces
	// Flags say which cluster is meant, for commands that are proposed.
	Flags []string

	UserString  string // empty for the workspace of the caller
	FromFile    bool   // several from File, instead of UserString
	File        string
	Parallel    int
	Timeout     time.Duration
	Timed       bool // Timeout is given; otherwise each has the time that the configuration gives it
	StuckAfter  time.Duration
	Timing      bool
	IfNotExists bool
	Wait        bool // for another command that deletes it
	NoWait      bool // until it runs
	Exec        bool // enter it then
	Update      bool // one that exists
	Yes         bool // without a question
	OnFailure   provision.OnFailure
	Force       bool // injection where it is risky
	Strict      bool // an init script that fails is a failure

	CreateNamespace bool
	DryRun          apply.DryRun
	Set             cmdutil.SetFlags
	Output          printer.Format
}

const long = `Bring up the workspace that a user string names, and follow it until it can be
entered or until it is certain that it cannot. Without a user string, that is your
own workspace.

It is safe to run again at any time: a workspace that is starting is followed, an
unfinished one is completed, a failed one is recreated.

With workload=KIND/NAME and ns=NAMESPACE, the workspace is injected into the pods
of a Deployment, StatefulSet or DaemonSet, beside its containers, and every replica
is followed. Deleting it leaves the pod template as it was.

If the workspace fails, or --timeout ends the waiting, what was created is kept for
inspection. With --on-failure delete, what this run created is removed after its
cause and the last lines of its log are collected: also claims, but none that
existed before, and no namespace. A workspace that this run injected is taken out
of its workload, unless it was in there before or somebody has changed it since:
then it is kept, and the reason is printed. Ctrl-C keeps everything. The exit
status is the same.

What only a person can change, such as a Secret that does not exist or a cluster without
room, is waited for without end; after a minute you are told so. With --stuck-after 10m
the waiting ends once it has lasted, unchanged, for 10 minutes: the exit status is 3, and
what was created is kept, whatever --on-failure says.

An init script that fails is a warning, with its exit code and the last lines of its
output, and the workspace can be entered nevertheless. With --strict-scripts, or
strictScripts in its blueprint, it is a failure, and the first one ends the waiting; of a
workspace that runs already, what has become of its scripts is looked at once.

With --update, a workspace that exists is brought to what its blueprint, --image and
--set say now, as "berth update" does; at a terminal you are asked to confirm what
would change, and --yes skips the question. Without it, a workspace that runs, or that
is stopped, keeps the settings that it was created with.

With --exec, enter the workspace as soon as it runs, also one that runs already, and
exit with the status of the shell.

With --filename, bring up many at once, --parallel at a time. The file has a user
string per line, with # comments, or is a YAML or JSON list of user strings or of
{userString: ...}. All problems in it are reported together before the cluster is
asked. --timeout is for all of them together. If one fails, the others go on. The
exit status is 3 if any of them failed, 5 if some only timed out, and 6 if some only ran
already; each one's own code is in the document. Ctrl-C stops following all of them.`

// NewCmd makes the command.
func NewCmd(f *cmdutil.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{IO: f.IO, Workspaces: f.Workspaces, OnFailure: provision.KeepOnFailure}
	cmd := &cobra.Command{
		Use:        "provision [USERSTR]",
		SuggestFor: []string{"up", "create", "new", "run", "deploy", "apply"},
		Short:      "Bring up a workspace and follow it until it can be entered",
		Long:       long,
		Example: `  berth provision alice
  berth provision alice~dev --exec
  berth provision alice~dev --blueprints ./blueprints
  berth provision alice~dev --timeout 2m --output json
  berth provision alice~dev+workload=deployment/web+ns=shop
  berth provision alice~dev --output jsonl | jq -c .stage.stage
  berth provision -f team.txt --parallel 8 --if-not-exists`,
		Args: cmdutil.MaxOneArg("user string"),
		RunE: cmdutil.RunE(o, runF, func(cmd *cobra.Command, args []string) error {
			o.UserString, o.FromFile, o.Flags = cmdutil.Optional(args), cmd.Flags().Changed("filename"),
				cmdutil.ClusterFlags(cmd)
			o.Timed = cmd.Flags().Changed("timeout")
			return o.validate(cmd.Flags().Changed("parallel"))
		}),
	}
	deps := f.For(cmd)
	cmd.ValidArgsFunction = deps.CompleteUserString
	o.Provisioner, o.Recorders, o.States = deps.Provisioner, deps.Recorders, deps.States
	o.Ended = deps.FollowHosts(cmd)
	flags := cmd.Flags()
	cmdutil.AddOutputFlag(cmd, &o.Output, "text", "json", "yaml", "jsonl", "name", "jsonpath=", "go-template=")
	cmdutil.AddTimeoutFlag(cmd, &o.Timeout)
	flags.BoolVar(&o.Timing, "timing", false, "print the time of each step and the number of API requests")
	flags.BoolVar(&o.IfNotExists, "if-not-exists", false, "succeed if the workspace is already running")
	flags.BoolVar(&o.Wait, "wait", false, "if the workspace is being deleted, wait for that instead of failing")
	flags.BoolVar(&o.NoWait, "no-wait", false, "exit once everything is created, without waiting for the "+
		"workspace to run")
	flags.BoolVar(&o.Update, "update", false, "bring a workspace that exists to what its blueprint says now")
	flags.BoolVarP(&o.Yes, "yes", "y", false, "with --update: do not ask for confirmation")
	flags.BoolVar(&o.Exec, "exec", false, "enter the workspace as soon as it runs")
	flags.BoolVar(&o.CreateNamespace, "create-namespace", false, "create the namespace if it does not exist")
	flags.BoolVar(&o.Force, "force", false,
		"inject into a workload even if its rollout is paused, it has no replicas, or only one of them can "+
			"mount the storage")
	flags.StringVarP(&o.File, "filename", "f", "", "provision the user strings in this file (- for standard input)")
	batch.AddParallelFlag(cmd, &o.Parallel)
	cmdutil.EnumVar(cmd, &o.OnFailure, "on-failure",
		"what to do with what was created if the workspace fails or times out", provision.KeepOnFailure,
		provision.DeleteOnFailure)
	flags.BoolVar(&o.Strict, "strict-scripts", false, "fail if one of the init scripts fails")
	cmdutil.AddPolicyFlags(cmd)
	cmdutil.AddStuckAfterFlag(cmd, &o.StuckAfter)
	cmdutil.AddDryRunFlag(cmd, &o.DryRun)
	cmdutil.AddBlueprintFlags(cmd)
	o.Set.Add(cmd)
	return cmd
}

// validate finds what is wrong with the command line.
func (o *Options) validate(parallel bool) error {
	if err := cmdutil.CheckTimeout(o.Timeout); err != nil {
		return err
	}
	if err := cmdutil.CheckStuckAfter(o.StuckAfter, o.NoWait); err != nil {
		return err
	}
	if err := o.validateExec(); err != nil {
		return err
	}
	switch {
	case o.Yes && !o.Update:
		return fault.New(fault.InvalidArgument, "--yes requires --update")
	case o.Update && o.FromFile:
		return fault.New(fault.InvalidArgument, "--update accepts only one workspace")
	case o.Update && o.OnFailure == provision.DeleteOnFailure:
		return fault.New(fault.InvalidArgument, "--update and --on-failure delete are mutually exclusive")
	case o.Strict && o.NoWait:
		return fault.New(fault.InvalidArgument, "--strict-scripts and --no-wait are mutually exclusive")
	case !o.FromFile && parallel:
		return fault.New(fault.InvalidArgument, "--parallel requires --filename")
	case !o.FromFile:
		return nil
	case o.File == "":
		return fault.New(fault.InvalidArgument, "--filename must not be empty")
	case o.DryRun != "":
		return fault.New(fault.InvalidArgument, "--dry-run accepts only one workspace")
	case o.UserString != "":
		return fault.New(fault.InvalidArgument, "--filename and the user string %q are mutually exclusive",
			o.UserString)
	}
	return batch.CheckParallel(o.Parallel)
}

// validateExec finds what does not go together with --exec: the shell has the terminal,
// and standard output.
func (o *Options) validateExec() error {
	if !o.Exec {
		return nil
	}
	for flag, given := range map[string]bool{
		"--filename": o.FromFile, "--no-wait": o.NoWait,
		"--dry-run": o.DryRun != "", "--output": !o.Output.IsText(),
	} {
		if given {
			return fault.New(fault.InvalidArgument, "--exec and %s are mutually exclusive", flag)
		}
	}
	return nil
}
