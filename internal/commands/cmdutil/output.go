package cmdutil

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/terminal/printer"
)

// AddOutputFlag adds --output with the formats that a command has; one that ends
// in = takes an expression. The value is checked when it is parsed.
func AddOutputFlag(cmd *cobra.Command, format *printer.Format, allowed ...string) {
	cmd.Flags().VarP(&outputFlag{text: "text", format: format, allowed: allowed}, "output", "o", "output format: "+strings.Join(allowed, ", "))
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(allowed, cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveNoSpace))
}

// outputFlag is a pflag.Value.
type outputFlag struct {
	text    string
	format  *printer.Format
	allowed []string
}

func (o *outputFlag) String() string { return o.text }

// Set reads the format.
func (o *outputFlag) Set(text string) error {
	name, _, expression := strings.Cut(text, "=")
	if expression {
		name += "="
	}
	if !slices.Contains(o.allowed, name) && !slices.Contains(o.allowed, name+"=") {
		return fmt.Errorf("must be one of: %s", strings.Join(o.allowed, ", "))
	}
	format, err := printer.ParseFormat(text)
	if err != nil {
		return err
	}
	o.text, *o.format = text, format
	return nil
}

// Type is what help shows as the value.
func (o *outputFlag) Type() string { return "FORMAT" }
