package volume

import (
	"context"
	"io"
	"path"
	"strings"
	"time"

	"github.com/spf13/cobra"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/exec"
	filecopy "github.com/berthdev/berth/internal/exec/copy"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/result"
	"github.com/berthdev/berth/internal/terminal/transfer"
	"github.com/berthdev/berth/internal/volume/read"
)

// CopyOptions are what the command line says.
type CopyOptions struct {
	Drivers
	Readers

	ID, Path     string
	To           string
	OutsideLinks bool
}

// NewCopy makes `berth volume cp`.
func NewCopy(f *cmdutil.Factory, runF func(context.Context, *CopyOptions) error) *cobra.Command {
	o := &CopyOptions{Drivers: Drivers{IO: f.IO}}
	cmd := &cobra.Command{
		Use:        "cp VOLUME[:PATH] DESTINATION",
		SuggestFor: []string{"copy", "download"},
		Short:      "Copy what a pod has left on a scratch volume to this machine",
		Long: `Copy what a pod has left on a scratch volume to this machine: a file, the content of a
directory, or without PATH that of the volume. DESTINATION is the file, or the directory,
which is made; files are added to one that is there, and replace those of the same name.

Files are received as "berth cp" receives them: they get their names when all have
arrived; modes, times and links are kept, owners are not, and links that lead out of what
is copied are refused unless --outside-links is given. It takes the same permission as
"berth volume read".`,
		Example: `  berth volume cp 1f0c9a2b4d ./rescued
  berth volume cp 1f0c9a2b4d:logs/build.log .`,
		Args: cmdutil.TwoArgs("volume", "destination"),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) (
			[]cobra.Completion, cobra.ShellCompDirective,
		) {
			if len(args) == 1 {
				return nil, cobra.ShellCompDirectiveDefault
			}
			return nil, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: cmdutil.RunE(o, runF, func(_ *cobra.Command, args []string) (err error) {
			if o.ID, o.Path, err = volumeAndPath(args[0]); err != nil {
				return err
			}
			o.To = args[1]
			return cmdutil.CheckTimeout(o.Timeout)
		}),
	}
	readers(f, cmd, &o.Readers)
	cmd.Flags().BoolVar(&o.OutsideLinks, "outside-links", false,
		"copy symbolic links as they are, also those that lead out of what is copied")
	cmdutil.AddTimeoutFlag(cmd, &o.Timeout)
	cmdutil.AddOutputFlag(cmd, &o.Output, "text", "json", "yaml", "name", "jsonpath=", "go-template=")
	return cmd
}

// Copy copies the files.
func Copy(ctx context.Context, o *CopyOptions) error {
	ctx, cancel := cmdutil.WithTimeout(ctx, o.Timeout)
	defer cancel()
	c, namespace, err := o.required(ctx)
	if err != nil {
		return err
	}
	v, err := o.locate(ctx, c, namespace, o.ID)
	if err != nil {
		return cmdutil.Because(ctx, err)
	}
	run, from, err := sender(ctx, v, o.Path)
	if err != nil {
		return cmdutil.Because(ctx, err)
	}
	begun, meter := time.Now(), &filecopy.Meter{}
	view := transfer.Start(o.IO, func() transfer.Sample {
		return transfer.Sample{Bytes: meter.Bytes.Load(), Files: meter.Files.Load(), Since: time.Since(begun)}
	})
	done, err := filecopy.Receive{Run: run, From: from, To: o.To, OutsideLinks: o.OutsideLinks, Meter: meter}.Do(ctx)
	view.Stop()
	if err != nil {
		return cmdutil.Because(ctx, err)
	}
	s := o.IO
	if o.Output.IsText() {
		s.Out = s.Err // where the progress was
	}
	return printer.Print(s, o.Output, result.Restoration{VolumeRestoration: v1.VolumeRestoration{
		ID: v.ID, Node: v.Node, Destination: done.Path, Files: done.Files, Bytes: done.Bytes,
		Seconds: time.Since(begun).Seconds(), Warnings: done.Warnings,
	}})
}

// sender is the other end of a copy, and what is asked of it: all that is in a directory, or a file.
func sender(ctx context.Context, v read.Volume, from string) (exec.Runner, string, error) {
	archive := func(ctx context.Context, w io.Writer) error { return v.Archive(ctx, from, w) }
	_, err := v.List(ctx, from)
	if err == nil {
		return filecopy.Archive(archive).Runner(), filecopy.Contents, nil
	}
	if fault.CodeOf(err) != fault.InvalidArgument { // which a file is
		return nil, "", err
	}
	return func(ctx context.Context, _ []string, s exec.Session) (int, error) {
		return 0, archive(ctx, s.Stdout)
	}, "/" + path.Base(strings.TrimRight(from, "/")), nil
}
