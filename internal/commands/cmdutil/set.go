package cmdutil

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/blueprint/catalog"
	"github.com/berthdev/berth/internal/fault"
)

// SetFlags change the blueprint for one run, within what a custom blueprint may
// set.
type SetFlags struct {
	Image  string
	Fields []string // path=value
}

// Add adds the flags.
func (f *SetFlags) Add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.Image, "image", "", "use this image, for this run")
	cmd.Flags().StringArrayVar(&f.Fields, "set", nil, "set a field of the blueprint, for this run: resources.cpu=2, env.FOO=bar (repeatable)")
	NoFlagValues(cmd, "image", "set")
}

// Overrides are the flags in the order in which they take precedence.
func (f *SetFlags) Overrides() (all []catalog.Override, err error) {
	if f.Image != "" {
		all = append(all, catalog.Override{Flag: "--image", Path: "image", Value: f.Image})
	}
	var problems []string
	for _, text := range f.Fields {
		path, value, ok := strings.Cut(text, "=")
		if !ok || path == "" {
			problems = append(problems, "--set "+text+": must be FIELD=VALUE, such as resources.cpu=2")
		}
		all = append(all, catalog.Override{Flag: "--set", Path: path, Value: value})
	}
	if len(problems) > 0 {
		err := fault.New(fault.InvalidArgument, "invalid --set")
		err.Problems = problems
		return nil, err.WithHint("repeat --set for each field: --set resources.cpu=2 --set env.FOO=bar")
	}
	return all, nil
}
