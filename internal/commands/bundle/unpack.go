package bundle

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/bundle/format"
	"github.com/berthdev/berth/internal/bundle/resource"
	"github.com/berthdev/berth/internal/bundle/source"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/english"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/result/bundle"
)

// ContentOptions are what the command lines of unpack and validate say.
type ContentOptions struct {
	IO      terminal.Streams
	Sources func() (source.Fetcher, error)

	SourceOptions
	Directory string // to unpack to
	Output    printer.Format
}

// NewUnpack makes `berth bundle unpack`.
func NewUnpack(f *cmdutil.Factory, runF func(context.Context, *ContentOptions) error) *cobra.Command {
	o := &ContentOptions{IO: f.IO}
	cmd := &cobra.Command{
		Use:   "unpack SOURCE DIRECTORY",
		Short: "Fetch a bundle and unpack it into a directory",
		Long: `Fetch a bundle and unpack it into a directory, which must be empty or not exist. No
cluster is asked. What "berth bundle validate" refuses is not unpacked; a chart is not
rendered, which takes its values.`,
		Example: `  berth bundle unpack oci://registry.example.com/shop:v2 ./shop
  curl -s https://example.com/shop.tgz | berth bundle unpack - ./shop`,
		RunE: cmdutil.RunE(o, runF, func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return fault.New(fault.InvalidArgument, "requires a source and a directory, got %s",
					english.Plural(len(args), "argument"))
			}
			o.Arg, o.Directory = args[0], args[1]
			return o.parse()
		}),
	}
	o.Sources = f.For(cmd).VerifiedSources
	o.addSourceFlags(cmd)
	cmdutil.AddOutputFlag(cmd, &o.Output, "text", "json", "yaml", "name", "jsonpath=", "go-template=")
	return cmd
}

// Unpack unpacks a bundle.
func Unpack(ctx context.Context, o *ContentOptions) error {
	if err := checkEmpty(o.Directory); err != nil {
		return err
	}
	c, err := o.fetchAlone(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	recognized, err := format.Check(ctx, c.FS())
	if err != nil {
		return err
	}
	d := describe(o.Arg, c, nil)
	d.Format = string(recognized)
	return place(o.IO, o.Output, c, o.Directory, d)
}

// place writes content to a directory, and prints what it is.
func place(io terminal.Streams, output printer.Format, c *content.Content, dir string, d v1.BundleContent) error {
	// What is not complete never has the name that was asked for.
	if err := write(c.FS(), dir); err != nil {
		return fault.New(fault.InvalidArgument, "cannot unpack to %s: %w", dir, err)
	}
	d.Directory = dir
	return printer.Print(io, output, bundle.Content{BundleContent: d})
}

// ContentsOptions are what the command line of content says.
type ContentsOptions struct {
	ClusterOptions
	Directory string
}

// NewContent makes `berth bundle content`.
func NewContent(f *cmdutil.Factory, runF func(context.Context, *ContentsOptions) error) *cobra.Command {
	o := &ContentsOptions{}
	cmd := &cobra.Command{
		Use:   "content NAME DIRECTORY",
		Short: "Write what is in an installed bundle into a directory",
		Long: `Write the files of the bundle that is installed into a directory, which must be empty or
not exist: as they were when it was unpacked, whatever is at its source now. What was
sent to the cluster is read there, and what was fetched is fetched again, unless this
machine has it.

The files of a bundle that another program has unpacked are fetched from that program, with
your token, as "berth bundle reconcile" does.`,
		Example: `  berth bundle content shop ./shop
  berth bundle content shop ./shop && diff --recursive ./shop ./deploy`,
		ValidArgsFunction: completeSource(f),
	}
	o.IO, o.Open = f.IO, f.For(cmd).VerifiedBundles
	addSystemFlag(cmd, &o.System)
	cmdutil.AddOutputFlag(cmd, &o.Output, "text", "json", "yaml", "name", "jsonpath=", "go-template=")
	cmdutil.AddContentFlags(cmd, &o.Trust)
	cmd.RunE = cmdutil.RunE(o, runF, func(_ *cobra.Command, args []string) error {
		if len(args) != 2 {
			return fault.New(fault.InvalidArgument, "requires a bundle and a directory, got %s",
				english.Plural(len(args), "argument"))
		}
		o.Name, o.Directory = args[0], args[1]
		if err := resource.CheckName(o.Name); err != nil {
			return err
		}
		return o.Trust.Check()
	})
	return cmd
}

// Content writes what is in an installed bundle.
func Content(ctx context.Context, o *ContentsOptions) error {
	if err := checkEmpty(o.Directory); err != nil {
		return err
	}
	r, err := o.Open(ctx, o.System)
	if err != nil {
		return err
	}
	r.Trust = o.Trust
	steps := event.NewSteps(event.NewStream(o.Name, time.Now), time.Now)
	defer steps.Finish(v1.Result{})
	c, b, err := r.Stored(ctx, o.Name, steps)
	if err != nil {
		return err
	}
	defer c.Close()
	d := describe(resource.BundleStateOf(b).Source, c, nil)
	if recognized, err := format.Recognize(c.FS()); err == nil {
		d.Format = string(recognized)
	}
	return place(o.IO, o.Output, c, o.Directory, d)
}

// checkEmpty refuses a directory that has something in it.
func checkEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fault.New(fault.InvalidArgument, "cannot unpack to %s: %w", dir, err)
	case len(entries) > 0:
		return fault.New(fault.AlreadyExists, "the directory %s is not empty", dir).
			WithHint("choose another directory, or remove what is in it")
	}
	return nil
}

// write writes the files next to the directory and renames it when it is whole.
func write(from fs.FS, dir string) (err error) {
	parent := filepath.Dir(filepath.Clean(dir))
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return err
	}
	temporary, err := os.MkdirTemp(parent, ".berth-unpack-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temporary)) }()
	root := filepath.Join(temporary, "content")
	if err := os.CopyFS(root, from); err != nil {
		return err
	}
	if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) { // it is empty
		return err
	}
	return os.Rename(root, dir)
}

// fetchAlone fetches the source without a cluster.
func (o *ContentOptions) fetchAlone(ctx context.Context) (*content.Content, error) {
	f, err := o.Sources()
	if err != nil {
		return nil, err
	}
	c, _, err := o.fetch(ctx, f, o.IO)
	return c, err
}
