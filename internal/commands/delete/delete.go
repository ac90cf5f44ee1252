// Package delete is the command `berth delete`.
package delete

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	v1 "github.com/berthdev/berth/api/v1"
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
	IO        terminal.Streams
	Remover   func() (*provision.Provisioner, error)
	Recorders func(context.Context) (*cmdutil.Recorders, error)
	Ended     func(v1.Result) // is told what became of the workspaces
	// Flags say which cluster is meant, for commands that are proposed.
	Flags []string

	batch.Selection
	Yes            bool
	KeepStorage    bool
	IgnoreNotFound bool
	Wait           bool // for another command that provisions it
	NoWait         bool // until its pod is gone
	Timeout        time.Duration
	DryRun         apply.DryRun
	Output         printer.Format
}

// NewCmd makes the command.
func NewCmd(f *cmdutil.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{IO: f.IO}
	cmd := &cobra.Command{
		Use:        "delete USERSTR|ID...",
		SuggestFor: []string{"rm", "remove", "down", "destroy", "del", "uninstall"},
		Short:      "Delete workspaces and everything that belongs to them",
		Long: `Delete workspaces and everything that belongs to them, their storage included, and
wait until their pods are gone. What the workspaces of a namespace share is kept.

At a terminal, the storage that would be deleted is listed, with its size and, of a
workspace that runs, how much of it is used, and you are asked to confirm; so are you
if a running workspace has no home directory in a storage, since its files are lost.
--yes skips the question. Without a terminal, nothing is asked. If you do not confirm, the
exit status is 130.

With --keep-storage, the claims are kept, marked with the ID and the user string of
the workspace. The next provisioning of the same user string uses them again; no
other workspace is given them, though a blueprint may name any claim. To delete what
is kept, delete the workspace once more: by its name, not with --owner.
"kubectl get pvc --selector berth.dev/kept" lists all that is kept.

With --timeout, give up waiting and say what is left: how far the pod is, how much
of its grace period remains, and which finalizers hold it.

A workspace in a workload is deleted once it is out of the pod template; its pods
go with the rollout. If the rollout is blocked, a warning names what blocks it, and
the command ends: the pods go when the rollout goes on. Until then the workspace is
listed as Terminating.

Only objects that say themselves that they belong to the workspace are deleted. What
Helm's record names besides is left, and named.

Several workspaces are deleted --parallel at a time. Before anything is deleted,
all arguments are checked for mistakes, which are reported together. If one does
not exist, or its deletion fails, the others go on, as with kubectl. The exit
status is 0 if all were deleted and 3 if any of them failed; each one's own code
is in the document. For a single workspace it is that of its code. --timeout is
for all of them together.

With --owner, delete all workspaces of a user in the namespace, or in all
namespaces. They are listed and you are asked to confirm; --yes skips the question
and is required without a terminal.`,
		Example: `  berth delete alice~dev
  berth delete alice~dev --keep-storage
  berth delete id/alice-2bd806c --no-wait
  berth delete alice~dev bob~dev --ignore-not-found --timeout 2m
  berth delete --owner alice --all-namespaces --yes`,
		ValidArgsFunction: f.CompleteWorkspaces,
		RunE: cmdutil.RunE(o, runF, func(cmd *cobra.Command, args []string) error {
			o.Args, o.ByOwner, o.Flags = args, cmd.Flags().Changed("owner"), cmdutil.ClusterFlags(cmd)
			return o.validate()
		}),
	}
	deps := f.For(cmd)
	o.Remover, o.Recorders, o.Ended = deps.Remover, deps.Recorders, deps.FollowHosts(cmd)
	o.addFlags(f, cmd)
	return cmd
}

func (o *Options) addFlags(f *cmdutil.Factory, cmd *cobra.Command) {
	flags := cmd.Flags()
	cmdutil.AddOutputFlag(cmd, &o.Output, "text", "json", "yaml", "jsonl", "name", "jsonpath=", "go-template=")
	flags.BoolVar(&o.NoWait, "no-wait", false, "do not wait until the pod is gone")
	flags.BoolVar(&o.Wait, "wait", false, "if the workspace is being provisioned, wait for that instead of failing")
	flags.BoolVar(&o.IgnoreNotFound, "ignore-not-found", false, "succeed if there is no such workspace")
	o.AddFlags(f, cmd)
	flags.BoolVarP(&o.Yes, "yes", "y", false, "do not ask for confirmation")
	flags.BoolVar(
		&o.KeepStorage, "keep-storage", false, "keep the storage for the next workspace of the same user string",
	)
	cmdutil.AddTimeoutFlag(cmd, &o.Timeout)
	cmdutil.AddDryRunFlag(cmd, &o.DryRun)
}

// validate finds what is wrong with the command line.
func (o *Options) validate() error {
	if err := cmdutil.CheckTimeout(o.Timeout); err != nil {
		return err
	}
	if o.DryRun != "" && o.Many() {
		return fault.New(fault.InvalidArgument, "--dry-run accepts only one workspace")
	}
	return o.Validate()
}
