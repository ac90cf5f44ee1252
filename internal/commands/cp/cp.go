// Package cp is the command `berth cp`.
package cp

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/exec"
	filecopy "github.com/berthdev/berth/internal/exec/copy"
	"github.com/berthdev/berth/internal/exec/pod"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/result"
	"github.com/berthdev/berth/internal/terminal/transfer"
)

// Options are what the command line says.
type Options struct {
	IO         terminal.Streams
	Workspaces func() (inventory.Reader, error)

	From, To     Location
	Place        pod.Place
	OutsideLinks bool
	Timeout      time.Duration
	Output       printer.Format
}

const long = `Copy a file or a directory to a workspace or from it.

A path in a workspace is relative to the home directory there. A colon divides the
workspace from the path; what begins with / or . or a drive such as C:\ is a path of
this machine. A user string that has a colon itself is written as ID.

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
workspace they are sent as zeros, and take space there. The tar of busybox knows times to the second, and
changes those of directories with hard links.`

// NewCmd makes the command.
func NewCmd(f *cmdutil.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{IO: f.IO, Workspaces: f.Workspaces}
	cmd := &cobra.Command{
		Use:   "cp SRC DST",
		Short: "Copy files to a workspace, or from it",
		Long:  long,
		Example: `  berth cp notes.txt alice~dev:
  berth cp src alice~dev:/srv/app
  berth cp alice~dev:project/build ./build
  berth cp alice~dev:project/. .`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return cmdutil.UsageError(cmd, fault.New(fault.InvalidArgument, "requires a source and a destination, got %d arguments", len(args)))
			}
			return nil
		},
		RunE: cmdutil.RunE(o, runF, func(_ *cobra.Command, args []string) (err error) {
			if o.From, o.To, err = locations(args); err != nil {
				return err
			}
			return cmdutil.CheckTimeout(o.Timeout)
		}),
	}
	f.AddContainerFlag(cmd, &o.Place)
	f.AddPodFlag(cmd, &o.Place)
	cmd.Flags().BoolVar(&o.OutsideLinks, "outside-links", false, "copy symbolic links from a workspace as they are, also those that lead out of what is copied")
	cmdutil.AddTimeoutFlag(cmd, &o.Timeout)
	cmdutil.AddOutputFlag(cmd, &o.Output, "text", "json", "yaml", "name", "jsonpath=", "go-template=")
	return cmd
}

// Run copies.
func Run(ctx context.Context, o *Options) error {
	ctx, cancel := cmdutil.WithTimeout(ctx, o.Timeout)
	defer cancel()
	workspace := o.From.Workspace + o.To.Workspace
	client, request, err := cmdutil.FindPlace(ctx, o.Workspaces, workspace, o.Place)
	if err != nil {
		return cmdutil.Because(ctx, err)
	}
	begun, meter := time.Now(), &filecopy.Meter{}
	view := transfer.Start(o.IO, func() transfer.Sample {
		return transfer.Sample{Bytes: meter.Bytes.Load(), Total: meter.TotalBytes.Load(), Files: meter.Files.Load(), Since: time.Since(begun)}
	})
	done, err := o.copy(ctx, pod.Runner(client, request), meter)
	view.Stop()
	if err != nil {
		return cmdutil.Because(ctx, err)
	}
	d := v1.CopyResult{
		ID: request.ID, Namespace: client.Namespace, Pod: request.Pod, Container: request.Container,
		Direction: v1.CopyFrom, Source: o.From.Path, Destination: done.Path,
		Files: done.Files, Bytes: done.Bytes, Seconds: time.Since(begun).Seconds(), Warnings: done.Warnings,
	}
	if o.To.Workspace != "" {
		d.Direction = v1.CopyTo
	}
	return o.print(result.Copy{CopyResult: d})
}

func (o *Options) copy(ctx context.Context, run exec.Runner, meter *filecopy.Meter) (filecopy.Result, error) {
	if o.To.Workspace != "" {
		return filecopy.Send{Run: run, From: o.From.Path, To: o.To.Path, Meter: meter}.Do(ctx)
	}
	return filecopy.Receive{Run: run, From: o.From.Path, To: o.To.Path, OutsideLinks: o.OutsideLinks, Meter: meter}.Do(ctx)
}

// print prints the text on stderr, where the progress was.
func (o *Options) print(d result.Copy) error {
	s := o.IO
	if o.Output.IsText() {
		s.Out = s.Err
	}
	return printer.Print(s, o.Output, d)
}
