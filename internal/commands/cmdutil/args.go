package cmdutil

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/provision"
	"github.com/berthdev/berth/internal/terminal/wording"
	"github.com/berthdev/berth/internal/userstring"
)

// RunE makes the RunE of a command: parse reads the command line into the options
// and finds what is wrong with it, without asking the cluster; then runF runs.
func RunE[O any](
	o *O, runF func(context.Context, *O) error, parse func(cmd *cobra.Command, args []string) error,
) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if err := parse(cmd, args); err != nil {
			return UsageError(cmd, err)
		}
		return runF(cmd.Context(), o)
	}
}

// NoArgs refuses arguments.
func NoArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return UsageError(cmd, fault.New(fault.InvalidArgument, "unexpected argument %q", args[0]))
	}
	return nil
}

// MaxOneArg allows one argument or none. An empty one is refused, so that it is
// not taken for none.
func MaxOneArg(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) > 1:
			return UsageError(cmd, fault.New(fault.InvalidArgument, "accepts at most one %s, got %d", what, len(args)))
		case len(args) == 1 && args[0] == "":
			return UsageError(cmd, fault.New(fault.InvalidArgument, "the %s must not be empty", what))
		}
		return nil
	}
}

// Optional is the argument that MaxOneArg allows; empty if there is none.
func Optional(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// OneArg requires one argument.
func OneArg(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return UsageError(cmd, fault.New(fault.InvalidArgument, "requires one %s, got %d", what, len(args)))
		}
		return nil
	}
}

// TwoArgs requires two arguments.
func TwoArgs(first, second string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 2 {
			return UsageError(cmd, fault.New(fault.InvalidArgument, "requires a %s and a %s, got %d arguments",
				first, second, len(args)))
		}
		return nil
	}
}

// ClusterFlags are the flags that say which cluster is meant, as they were given:
// a command that is proposed must look in the same place. Secrets are left out.
func ClusterFlags(cmd *cobra.Command) []string {
	var words []string
	cmd.InheritedFlags().VisitAll(func(flag *pflag.Flag) {
		if !flag.Changed || slices.Contains([]string{"token", "password"}, flag.Name) {
			return
		}
		name := "--" + flag.Name
		if flag.Shorthand != "" {
			name = "-" + flag.Shorthand
		}
		list, several := flag.Value.(pflag.SliceValue)
		switch {
		case several:
			for _, value := range list.GetSlice() {
				words = append(words, wording.Flag(name, value))
			}
		case flag.NoOptDefVal != "": // a value after a blank would be an argument
			words = append(words, "--"+flag.Name+"="+flag.Value.String())
		default:
			words = append(words, wording.Flag(name, flag.Value.String()))
		}
	})
	return words
}

// ParseUser parses a user string that is to be provisioned.
func ParseUser(text string) (userstring.UserString, error) {
	u, err := userstring.Parse(text)
	if err == nil {
		err = provision.Supported(u)
	}
	return u, err
}

// ParseNewUser parses the name of a workspace that may have to be made: it has to be a
// user string, as an ID does not say what to make.
func ParseNewUser(text string) (userstring.UserString, error) {
	if strings.HasPrefix(text, "id/") || userstring.LooksLikeID(text) {
		return userstring.UserString{}, fault.New(
			fault.InvalidArgument, "%s is an ID, which does not say what to provision", text,
		).
			WithHint("name the workspace by its user string, such as alice~dev")
	}
	return ParseUser(text)
}
