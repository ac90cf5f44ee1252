package blueprint

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/blueprint/catalog"
	"github.com/berthdev/berth/internal/blueprint/original"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/result"
)

// NewConvert makes `berth blueprint convert`.
func NewConvert(f *cmdutil.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "convert FILE|DIR",
		Short: "Convert blueprints of k8shell",
		Long: `Convert blueprints of k8shell, and list what is changed: where a field has another
meaning there, berth's form is written. Comments are kept, blank lines and quotes are
not; a file with nothing to change stays as it is. berth reads the rest as it is. The
list also has what is left and means something else here, to be looked at.

Without --to or --in-place, nothing is written. The files of a directory are converted
together, as their blueprints inherit from each other; those that others include are
written out there. A file whose name is, or ends in, .k8shell.yaml is a custom blueprint.
Everything is checked as berth blueprint validate does before any file is written, and
either all files are written or none.`,
		Example: `  berth blueprint convert ./theirs
  berth blueprint convert ./theirs --to ./blueprints
  berth blueprint convert .k8shell.yaml --in-place`,
		Args: cmdutil.OneArg("file or directory"),
	}
	o := newOptions(f, cmd, "text", "json", "yaml", "jsonpath=", "go-template=")
	cmd.Flags().StringVar(&o.To, "to", "", "the directory to write the files to, which is created")
	cmd.Flags().BoolVar(&o.InPlace, "in-place", false, "write over the files that are read")
	_ = cmd.MarkFlagDirname("to")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o.Paths = args
		if o.InPlace && o.To != "" {
			return fault.New(fault.InvalidArgument, "--in-place and --to are mutually exclusive").
				WithHint("leave one of them out")
		}
		return runF(cmd.Context(), o)
	}
	return cmd
}

// Convert converts files of blueprints.
func Convert(ctx context.Context, o *Options) error {
	configured, err := o.Configured(ctx)
	if err != nil {
		return err
	}
	sources, problems, err := catalog.Read(o.Paths)
	if err != nil {
		return err
	}
	others, err := catalog.Written(configured, sources)
	if err != nil {
		return err
	}
	files, changes, found := original.Convert(sources, others)
	var given []blueprint.Source
	parsed := map[string]*yaml.Node{}
	for _, file := range files {
		given, parsed[file.Source.Name] = append(given, file.Source), file.Top
	}
	done, err := cmdutil.Await(ctx, func() (catalog.Checked, error) {
		return catalog.CheckParsed(ctx, configured, given, append(problems, found...), parsed)
	})
	if err != nil {
		return err
	}
	document := v1.BlueprintConversion{Blueprints: done.Blueprints, Files: []v1.ConvertedFile{}}
	var writes []replacement
	for _, file := range files {
		w := replacement{
			from: file.Source.Name, path: o.target(file.Source.Name), before: file.Source.Text, text: file.Text,
		}
		if o.InPlace && bytes.Equal(w.before, w.text) {
			w.path = ""
		}
		document.Files = append(document.Files, v1.ConvertedFile{From: w.from, To: w.path})
		if w.path != "" {
			writes = append(writes, w)
		}
	}
	for _, c := range changes {
		document.Changes = append(document.Changes, v1.BlueprintChange{
			File: c.File, Line: c.Line, Blueprint: c.Blueprint, Field: c.Field, Message: c.Message, Differs: c.Differs,
		})
	}
	if o.InPlace {
		if err := left(files); err != nil {
			return err
		}
	}
	if len(writes) > 0 {
		if err := write(writes, o.InPlace); err != nil {
			return err
		}
	}
	return printer.Print(o.IO, o.Output, result.BlueprintConversion{BlueprintConversion: document})
}

// left returns an error if files that are written out in others would be left where berth reads them as blueprints.
func left(files []original.File) error {
	var problems []string
	for _, file := range files {
		for _, beside := range file.Beside {
			problems = append(problems, fmt.Sprintf("%s: is written out in %s, and would be left here as a file of "+
				"blueprints", beside, file.Source.Name))
		}
	}
	if len(problems) == 0 {
		return nil
	}
	slices.Sort(problems)
	err := fault.New(fault.InvalidArgument, "nothing is written: files would be left that are no blueprints")
	err.Problems = slices.Compact(problems)
	return err.WithHint("use --to with another directory")
}

// target is where a file is written to; empty for nowhere.
func (o *Options) target(name string) string {
	switch {
	case o.InPlace:
		return name
	case o.To != "":
		return filepath.Join(o.To, filepath.Base(name))
	}
	return ""
}
