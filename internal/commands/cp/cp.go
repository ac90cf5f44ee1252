// Package cp is the command `berth cp`.
package cp

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/english"
	"github.com/berthdev/berth/internal/exec"
	filecopy "github.com/berthdev/berth/internal/exec/copy"
	"github.com/berthdev/berth/internal/exec/gateway"
	"github.com/berthdev/berth/internal/exec/machine"
	"github.com/berthdev/berth/internal/exec/pod"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/result"
	"github.com/berthdev/berth/internal/terminal/transfer"
)

// Options are what the command line says.
type Options struct {
	IO      terminal.Streams
	Pods    cmdutil.Pods
	Through func(ctx context.Context, name, target, container string) (gateway.Gateway, gateway.Destination, error)

	From, To     Location
	Place        pod.Place
	OutsideLinks bool
	Gateway      string // empty for none
	Timeout      time.Duration
	Output       printer.Format
}

const long = `Copy a file or a directory to a workspace or from it.

A path in a workspace is relative to the home directory there, which is also ~. That is
$HOME of the container's user, also where the workspace has an OS user of its own. A
colon divides the workspace from the path; what begins with / or . or a drive such as
C:\ is a path of this machine. A user string that has a colon itself is written as ID.

What is copied goes where cp -a puts it: into the destination if that is a directory,
otherwise it becomes the destination. A directory is added to one of the same name;
files there are replaced, and what else is there stays. With /. at its end, the source
means what is in the directory; with a slash, what a link points to.

Modes, times, symbolic links and hard links are kept; owners, extended attributes and
the bits with which a program runs as its owner are not. A link at the destination is
replaced and not followed. Devices, pipes and sockets are refused, as are, from a
workspace, links that lead out of what is copied.

Everything gets its name when it is complete. Until then it is in a directory whose name
begins with .berth-cp-, in the same place; the next copy to that place removes what
a killed one has left. If one file cannot be read, nothing is copied, and all such
files are named.

The container needs sh and tar. From a workspace, holes of sparse files are not sent if
that is GNU tar, and otherwise come as zeros; they are holes again on this machine. To a
workspace they are sent as zeros, and take space there. The tar of busybox knows times
to the second, changes those of directories with hard links, and lets their owner write
to directories unless it runs as root.`

// NewCmd makes the command.
func NewCmd(f *cmdutil.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{IO: f.IO}
	cmd := &cobra.Command{
		Use:        "cp SRC DST",
		SuggestFor: []string{"copy", "scp", "rsync"},
		Short:      "Copy files to a workspace, or from it",
		Long:       long,
		Example: `  berth cp notes.txt alice~dev:
  berth cp src alice~dev:/srv/app
  berth cp alice~dev:project/build ./build
  berth cp alice~dev:project/. .`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return cmdutil.UsageError(cmd,
					fault.New(fault.InvalidArgument, "requires a source and a destination, got %s",
						english.Count(len(args), "argument")))
			}
			return nil
		},
		RunE: cmdutil.RunE(o, runF, func(cmd *cobra.Command, args []string) (err error) {
			o.Pods.Flags = cmdutil.ClusterFlags(cmd)
			if o.From, o.To, err = locations(args); err != nil {
				return err
			}
			return o.validate()
		}),
	}
	deps := f.For(cmd)
	o.Pods.Workspaces, o.Pods.States = deps.Workspaces, deps.States
	o.Through = deps.Through
	deps.AddGatewayFlag(cmd, &o.Gateway)
	f.AddContainerFlag(cmd, &o.Place, workspaceOf)
	f.AddPodFlag(cmd, &o.Place, workspaceOf)
	cmd.Flags().BoolVar(&o.OutsideLinks, "outside-links", false,
		"copy symbolic links from a workspace as they are, also those that lead out of what is copied")
	cmdutil.AddTimeoutFlag(cmd, &o.Timeout)
	cmdutil.AddOutputFlag(cmd, &o.Output, "text", "json", "yaml", "name", "jsonpath=", "go-template=")
	return cmd
}

// validate finds what is wrong with the command line.
func (o *Options) validate() error {
	switch {
	case o.Gateway == "":
	case o.Place.Pod != "":
		return fault.New(fault.InvalidArgument, "--%s and --pod are mutually exclusive", cmdutil.FlagGateway).
			WithHint("leave out one of them")
	case strings.HasPrefix(o.workspace(), machine.Prefix):
		return fault.New(fault.InvalidArgument, "%s has no files, only a console", o.workspace()).
			WithHint("name a workspace")
	}
	return cmdutil.CheckTimeout(o.Timeout)
}

// workspace is the one that is copied to or from.
func (o *Options) workspace() string { return o.From.Workspace + o.To.Workspace }

// Run copies.
func Run(ctx context.Context, o *Options) error {
	ctx, cancel := cmdutil.WithTimeout(ctx, o.Timeout)
	defer cancel()
	d, run, err := o.place(ctx)
	if err != nil {
		return cmdutil.Because(ctx, err)
	}
	begun, meter := time.Now(), &filecopy.Meter{}
	view := transfer.Start(o.IO, func() transfer.Sample {
		return transfer.Sample{
			Bytes: meter.Bytes.Load(), Total: meter.TotalBytes.Load(), Files: meter.Files.Load(),
			Since: time.Since(begun),
		}
	})
	done, err := o.copy(ctx, run, meter)
	view.Stop()
	if err != nil {
		return cmdutil.Because(ctx, err)
	}
	d.Direction, d.Source, d.Destination = v1.CopyFrom, o.From.Path, done.Path
	if o.To.Workspace != "" {
		d.Direction = v1.CopyTo
	}
	d.Files, d.Bytes, d.Seconds, d.Warnings = done.Files, done.Bytes, time.Since(begun).Seconds(), done.Warnings
	return o.print(result.Copy{CopyResult: d})
}

// place is where the workspace's end of the copy runs.
func (o *Options) place(ctx context.Context) (v1.CopyResult, exec.Runner, error) {
	if o.Gateway != "" {
		through, to, err := o.Through(ctx, o.Gateway, o.workspace(), o.Place.Container)
		return v1.CopyResult{ID: to.Workspace, Namespace: to.Namespace, Container: to.Container}, through.Runner(to),
			err
	}
	client, request, err := o.Pods.Place(ctx, o.workspace(), o.Place)
	if err != nil {
		return v1.CopyResult{}, nil, o.orFile(err)
	}
	login := pod.Login{User: pod.OSUser(o.workspace()), Container: request.Container}
	return v1.CopyResult{ID: request.ID, Namespace: client.Namespace, Pod: request.Pod, Container: request.Container},
		login.As(pod.Runner(client, request)), nil
}

// orFile is the error about a workspace that does not exist, with what to type if a file of this
// machine was meant.
func (o *Options) orFile(err error) error {
	if fault.CodeOf(err) != fault.NotFound {
		return err
	}
	missing := *fault.From(err)
	return missing.WithHint("%s; a file of this machine whose name has a colon is written ./NAME", missing.Hint)
}

func (o *Options) copy(ctx context.Context, run exec.Runner, meter *filecopy.Meter) (filecopy.Result, error) {
	if o.To.Workspace != "" {
		return filecopy.Send{Run: run, From: o.From.Path, To: o.To.Path, Meter: meter}.Do(ctx)
	}
	return filecopy.Receive{
		Run: run, From: o.From.Path, To: o.To.Path, OutsideLinks: o.OutsideLinks,
		Meter: meter,
	}.Do(ctx)
}

// print prints the text on stderr, where the progress was.
func (o *Options) print(d result.Copy) error {
	s := o.IO
	if o.Output.IsText() {
		s.Out = s.Err
	}
	return printer.Print(s, o.Output, d)
}
