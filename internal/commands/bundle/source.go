package bundle

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/bundle/dependency"
	"github.com/berthdev/berth/internal/bundle/format"
	"github.com/berthdev/berth/internal/bundle/resource"
	"github.com/berthdev/berth/internal/bundle/source"
	"github.com/berthdev/berth/internal/chart"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/terminal"
)

// SourceOptions say where a bundle comes from and what it is.
type SourceOptions struct {
	Arg string // SOURCE
	// Branch, Tag, Commit and Subdirectory are those of a repository.
	Branch, Tag, Commit, Subdirectory string
	Version                           string // of a chart: one, or a range
	Secret                            string // with the login for the source
	Format                            format.Format
	ValuesFiles                       []string // of a chart
	Set                               chart.Set
	ResetValues                       bool // does not use those of the last installation
	// Watch are the namespaces that an operator is to watch; nil if the command line does not say, and empty for those
	// that it watches by itself.
	Watch         []string
	RenderTimeout time.Duration

	target source.Target
}

// parse reads what the source is.
func (o *SourceOptions) parse() (err error) {
	fromStdin := 0
	for _, from := range append([]string{o.Arg}, o.ValuesFiles...) {
		if from == source.Stdin {
			fromStdin++
		}
	}
	if fromStdin > 1 {
		return fault.New(fault.InvalidArgument, "standard input can be read only once, as SOURCE or as a "+
			"file of --values")
	}
	if err := cmdutil.CheckRender(o.RenderTimeout); err != nil {
		return err
	}
	o.target, err = source.Parse(o.Arg, source.Flags{
		Branch: o.Branch, Tag: o.Tag, Commit: o.Commit, Directory: o.Subdirectory, Version: o.Version, Secret: o.Secret,
	})
	return err
}

// fetch fetches the source, and says what exactly that was. Of a local one, nothing is
// known but the content.
func (o *SourceOptions) fetch(ctx context.Context, f source.Fetcher, io terminal.Streams) (c *content.Content,
	resolved v1alpha1.Source, err error,
) {
	if o.target.Path == source.Stdin && io.In.TTY {
		return nil, resolved, fault.New(fault.InvalidArgument, "standard input is a terminal, not a bundle").
			WithHint("write the bundle to it, as a tar file or as YAML: tar -cz -C DIRECTORY . | berth bundle …")
	}
	c, err = awaitContent(ctx, func() (c *content.Content, err error) {
		if o.target.Source == nil {
			return dependency.Local(ctx, f, o.target.Path, io.In)
		}
		c, resolved, err = dependency.Fetch(ctx, f, *o.target.Source)
		return c, err
	})
	if err == nil && o.target.Source == nil {
		resolved = v1alpha1.Source{Type: v1alpha1.SourceUpload, Upload: &v1alpha1.UploadSource{Digest: c.Digest}}
	}
	return c, resolved, err
}

// class is that of the format that was asked for; empty if it is to be recognized.
func (o *SourceOptions) class() string {
	if o.Format == "" {
		return ""
	}
	return resource.ClassOf(o.Format)
}

// addSourceFlags adds the flags about a source.
func (o *SourceOptions) addSourceFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&o.Branch, "branch", "", "of a repository: the branch")
	flags.StringVar(&o.Tag, "tag", "", "of a repository: the tag")
	flags.StringVar(&o.Commit, "commit", "", "of a repository: the commit, by its full hash")
	flags.StringVar(&o.Subdirectory, "directory", "", "of a repository: the directory of the bundle")
	flags.StringVar(&o.Version, "version", "", "of a chart in a registry or repository: the version, or a range of "+
		"which the newest is taken")
	cmdutil.NoFlagValues(cmd, "branch", "tag", "commit", "directory", "version")
	cmdutil.AddVerifyFlags(cmd)
}

// addSecretFlag adds --source-secret, of commands that have a cluster.
func (o *SourceOptions) addSecretFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.Secret, "source-secret", "",
		"a Secret of the system namespace with the login for an image, a repository or an archive at a URL")
	cmdutil.NoFlagValues(cmd, "source-secret")
}

// addFormatFlags adds the flags about what the content is.
func (o *SourceOptions) addFormatFlags(cmd *cobra.Command) {
	cmdutil.EnumVar(cmd, &o.Format, "format", "what the content is, if it cannot be recognized", format.Formats()...)
	cmd.Flags().StringArrayVar(&o.ValuesFiles, "values", nil,
		"the values of a chart: a file of YAML (- for standard input); repeatable, a later one wins")
	for flag, set := range map[string]struct {
		to    *[]string
		usage string
	}{
		"set": {&o.Set.Values, "a value of a chart, over those of --values: " +
			"KEY=VALUE[,KEY=VALUE...]; repeatable"},
		"set-string": {&o.Set.Strings, "as --set, of a value that is a string whatever it looks like"},
		"set-file":   {&o.Set.Files, "as --set, of a value that is the text of a file: KEY=PATH"},
		"set-json":   {&o.Set.JSON, "as --set, of a value in JSON: KEY=JSON"},
	} {
		cmd.Flags().StringArrayVar(set.to, flag, nil, set.usage)
		cmdutil.NoFlagValues(cmd, flag)
	}
	cmd.Flags().StringSliceVar(&o.Watch, "watch-namespaces", nil,
		"the namespaces that an operator watches, with commas between them (default: as last time; at first all, or "+
			"its own if it does not support that)")
	cmdutil.NoFlagValues(cmd, "watch-namespaces")
	cmdutil.AddRenderFlag(cmd, &o.RenderTimeout)
}

// addResetFlag adds --reset-values, of commands that upgrade.
func (o *SourceOptions) addResetFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.ResetValues, "reset-values", false, "do not use the values of the last installation again")
}

// values reads the values of a chart.
func (o *SourceOptions) values(ctx context.Context, io terminal.Streams) ([]byte, error) {
	const most = 1 << 20
	if len(o.ValuesFiles) == 0 && o.Set.IsZero() {
		return nil, nil
	}
	return cmdutil.Await(ctx, func() ([]byte, error) {
		texts := make([][]byte, len(o.ValuesFiles))
		for i, path := range o.ValuesFiles {
			var err error
			if texts[i], err = cmdutil.ReadFile(path, io.In, most, "--values"); err != nil {
				return nil, err
			}
		}
		merged, err := chart.MergeValues(texts)
		if err != nil {
			return nil, err
		}
		return o.Set.Over(merged, func(path string) ([]byte, error) {
			return cmdutil.ReadFile(path, io.In, most, "--set-file")
		})
	})
}

// describe is what is in a bundle; of one that was not read, its content alone.
func describe(from string, c *content.Content, p *format.Package) v1.BundleContent {
	d := v1.BundleContent{Source: from, Digest: c.Digest, Files: c.Files, Bytes: c.Size, SignedBy: c.SignedBy}
	if p == nil {
		return d
	}
	d.Format, d.Package, d.Version, d.Warnings = string(p.Format), p.Name, p.Version, p.Warnings
	d.Objects = map[string]int{}
	for _, object := range p.Objects {
		d.Objects[object.GetKind()]++
	}
	return d
}

// awaitContent is cmdutil.Await for content, which is closed if nobody waits for it.
func awaitContent(ctx context.Context, f func() (*content.Content, error)) (*content.Content, error) {
	return cmdutil.Await(ctx, func() (*content.Content, error) {
		c, err := f()
		if ctx.Err() != nil && c != nil {
			_ = c.Close()
		}
		return c, err
	})
}
