package volume

import (
	"context"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	filecopy "github.com/berthdev/berth/internal/exec/copy"
	"github.com/berthdev/berth/internal/exec/pod"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/result"
	"github.com/berthdev/berth/internal/terminal/transfer"
)

// RestoreOptions are what the command line says.
type RestoreOptions struct {
	Drivers

	Pods cmdutil.Pods

	ID           string
	To           string // a directory of this machine
	Into, Path   string // a workspace, and a directory in it
	Overwrite    bool
	OutsideLinks bool
}

// NewRestore makes `berth volume restore`.
func NewRestore(f *cmdutil.Factory, runF func(context.Context, *RestoreOptions) error) *cobra.Command {
	o := &RestoreOptions{}
	into := ""
	cmd := &cobra.Command{
		Use:        "restore ID",
		SuggestFor: []string{"recover", "undelete"},
		Short:      "Get the files of a scratch volume whose pod is gone",
		Long: `Copy the files of a scratch volume whose pod is gone, to a directory of this machine or
into a workspace that runs. The beginning of the ID is enough if it is that of one volume.
The volume stays where it is, and goes when its time is over, but not while it is copied.

With --to, the directory is made; with --into, the one of PATH, which is relative to the
home directory of the workspace. Without PATH, a new one is made there, named after the
storage and the volume. One that is there has to be empty. With --overwrite, the files
are added to what is there, and replace files of the same name.

Files are received as "berth cp" receives them: they get their names when all have
arrived; modes, times and links are kept, owners are not, and links that lead out of the
volume are refused unless --outside-links is given. Sockets and pipes are not in the
volume any more. The workspace needs sh and tar.`,
		Example: `  berth volume restore 1f0c9a2b4d --to ./rescued
  berth volume restore 1f0c9a2b4d --into alice~dev
  berth volume restore 1f0c9a2b4d --into alice~dev:/build --overwrite`,
		Args: cmdutil.OneArg("volume"),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion,
			cobra.ShellCompDirective,
		) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return f.CompleteVolumes(cmd, o.Namespace, volumeNames(nil))
		},
		RunE: cmdutil.RunE(o, runF, func(cmd *cobra.Command, args []string) error {
			o.ID, o.Pods.Flags = args[0], cmdutil.ClusterFlags(cmd)
			o.Into, o.Path, _ = strings.Cut(into, ":")
			return o.check(into)
		}),
	}
	drivers(f, cmd, &o.Drivers, "text", "json", "yaml", "name", "jsonpath=", "go-template=")
	deps := f.For(cmd)
	o.Pods.Workspaces, o.Pods.States = deps.Workspaces, deps.States
	flags := cmd.Flags()
	flags.StringVar(&o.To, "to", "", "the directory of this machine to restore to")
	flags.StringVar(&into, "into", "", "the workspace to restore into: USERSTR|ID[:PATH]")
	flags.BoolVar(&o.Overwrite, "overwrite", false, "add the files to what is there, and replace those "+
		"of the same name")
	flags.BoolVar(&o.OutsideLinks, "outside-links", false,
		"copy symbolic links as they are, also those that lead out of the volume")
	_ = cmd.MarkFlagDirname("to")
	f.CompleteFrom(cmd, "into", func(w v1.Workspace) string { return w.UserString })
	return cmd
}

// check finds what is wrong with the command line.
func (o *RestoreOptions) check(into string) error {
	invalid := func(format string, args ...any) *fault.Error {
		return fault.New(fault.InvalidArgument, format, args...)
	}
	switch {
	case o.To == "" && into == "":
		return invalid("--to or --into is required").WithHint("--to ./rescued, or --into USERSTR")
	case o.To != "" && into != "":
		return invalid("--to and --into are mutually exclusive")
	case into != "" && o.Into == "":
		return invalid("--into %q names no workspace before the colon", into)
	case strings.ContainsRune(o.Path, 0):
		return invalid("path %q has a null character", o.Path)
	}
	if err := checkIDs([]string{o.ID}); err != nil {
		return err
	}
	return o.validate()
}

// Restore copies the files of a volume.
func Restore(ctx context.Context, o *RestoreOptions) error {
	ctx, cancel := cmdutil.WithTimeout(ctx, o.Timeout)
	defer cancel()
	if o.To != "" && !o.Overwrite {
		if err := filecopy.VacantHere(o.To); err != nil {
			return err
		}
	}
	answers, err := o.ask(ctx)
	if err != nil {
		return cmdutil.Because(ctx, err)
	}
	k, err := find(answers, o.ID)
	if err != nil {
		return err
	}
	d, to, err := o.destination(ctx, k)
	if err != nil {
		return cmdutil.Because(ctx, err)
	}
	begun, meter := time.Now(), &filecopy.Meter{}
	view := transfer.Start(o.IO, func() transfer.Sample {
		return transfer.Sample{Bytes: meter.Bytes.Load(), Files: meter.Files.Load(), Since: time.Since(begun)}
	})
	done, err := to(meter)
	view.Stop()
	if err != nil {
		return cmdutil.Because(ctx, err)
	}
	d.Destination, d.Files, d.Bytes, d.Seconds, d.Warnings = done.Path, done.Files, done.Bytes,
		time.Since(begun).Seconds(), done.Warnings
	s := o.IO
	if o.Output.IsText() {
		s.Out = s.Err // where the progress was
	}
	return printer.Print(s, o.Output, result.Restoration{VolumeRestoration: d})
}

// destination is where a volume is restored to, and the copy to there.
func (o *RestoreOptions) destination(ctx context.Context, k kept) (d v1.VolumeRestoration,
	to func(*filecopy.Meter) (filecopy.Result, error), err error,
) {
	d = v1.VolumeRestoration{ID: k.ID, Node: k.on.Node.Name}
	archive := filecopy.Archive(func(ctx context.Context, w io.Writer) error { return k.on.Node.Archive(ctx, k.ID, w) })
	if o.Into == "" {
		return d, func(meter *filecopy.Meter) (filecopy.Result, error) {
			return filecopy.Receive{
				Run: archive.Runner(), From: filecopy.Contents, To: o.To, OutsideLinks: o.OutsideLinks,
				Meter: meter,
			}.Do(ctx)
		}, nil
	}
	client, request, err := o.Pods.Place(ctx, o.Into, pod.Place{})
	if err != nil {
		return d, nil, err
	}
	d.Workspace, d.Namespace = request.ID, client.Namespace
	run, path := pod.Runner(client, request), o.Path
	if path == "" {
		path = newName(k)
	}
	if !o.Overwrite {
		if err := filecopy.Vacant(ctx, run, path); err != nil {
			return d, nil, err
		}
	}
	return d, func(meter *filecopy.Meter) (filecopy.Result, error) {
		return filecopy.Relay{Run: run, From: archive, To: path, OutsideLinks: o.OutsideLinks, Meter: meter}.Do(ctx)
	}, nil
}

// newName is the name of a directory that is made for a volume. What the pod has said of
// it is not trusted to be a name.
func newName(k kept) string {
	storage := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return -1
	}, k.Storage)
	if storage == "" {
		storage = "volume"
	}
	return "restored-" + storage[:min(len(storage), maxStorage)] + "-" + result.ShortVolume(k.ID)
}

// maxStorage is how much of a storage's name is in that of a directory.
const maxStorage = 40
