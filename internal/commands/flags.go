package commands

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/terminal/printer"
)

// outputFlag is --output, checked when it is read.
type outputFlag struct {
	text    string
	format  printer.Format
	allowed []string // those ending in = take an expression
}

func (o *outputFlag) register(cmd *cobra.Command, allowed ...string) {
	o.text, o.allowed = "text", allowed
	cmd.Flags().VarP(o, "output", "o", "the format of the result: "+strings.Join(allowed, ", "))
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(allowed, cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveNoSpace))
}

// String, Set and Type make it a pflag.Value.
func (o *outputFlag) String() string { return o.text }

// Set reads the format.
func (o *outputFlag) Set(text string) error {
	name, _, expression := strings.Cut(text, "=")
	if expression {
		name += "="
	}
	if !slices.Contains(o.allowed, name) && !slices.Contains(o.allowed, name+"=") {
		return fmt.Errorf("%q is none of %s", text, strings.Join(o.allowed, ", "))
	}
	format, err := printer.ParseFormat(text)
	if err != nil {
		return err
	}
	o.text, o.format = text, format
	return nil
}

// Type is what help shows as the value.
func (o *outputFlag) Type() string { return "FORMAT" }

// addBlueprintFlags adds the flags that configure where workspaces are made of.
func addBlueprintFlags(cmd *cobra.Command) {
	cmd.Flags().String("blueprints", "", "a directory of platform blueprints (YAML)")
	_ = cmd.MarkFlagDirname("blueprints")
}

func none(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage(cmd, fault.New(fault.InvalidArgument, "no arguments are expected, but there is %q", args[0]))
	}
	return nil
}

func atMostOne(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 1 {
			return usage(cmd, fault.New(fault.InvalidArgument, "one %s at most, not %d", what, len(args)))
		}
		return nil
	}
}

func exactlyOne(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usage(cmd, fault.New(fault.InvalidArgument, "one %s is needed, not %d", what, len(args)))
		}
		return nil
	}
}
