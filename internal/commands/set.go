package commands

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/fault"
)

// setFlags change the blueprint for a single run, within what a custom blueprint
// may set.
type setFlags struct {
	image string
	set   []string
}

func (f *setFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.image, "image", "", "use this image, for this run")
	cmd.Flags().StringArrayVar(&f.set, "set", nil, "set a field of the blueprint, for this run: resources.cpu=2, env.FOO=bar (repeatable)")
	_ = cmd.RegisterFlagCompletionFunc("image", cobra.NoFileCompletions)
	_ = cmd.RegisterFlagCompletionFunc("set", cobra.NoFileCompletions)
}

// overrides are the flags in the order in which they count.
func (f *setFlags) overrides() (all []blueprint.Override, err error) {
	if f.image != "" {
		all = append(all, blueprint.Override{Flag: "--image", Path: "image", Value: f.image})
	}
	var problems []string
	for _, text := range f.set {
		path, value, ok := strings.Cut(text, "=")
		if !ok || path == "" {
			problems = append(problems, "--set "+text+": a field and its value are needed, as in resources.cpu=2")
		}
		all = append(all, blueprint.Override{Flag: "--set", Path: path, Value: value})
	}
	if len(problems) > 0 {
		err := fault.New(fault.InvalidArgument, "the flags cannot be read")
		err.Problems = problems
		return nil, err.WithHint("pass --set once for each field: --set resources.cpu=2 --set env.FOO=bar")
	}
	return all, nil
}
