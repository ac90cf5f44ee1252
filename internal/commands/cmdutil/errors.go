package cmdutil

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/result"
	"github.com/berthdev/berth/internal/terminal/wording"
	"github.com/berthdev/berth/internal/yamldoc"
)

// ExitError is an exit status whose reason has been printed.
type ExitError int

func (ExitError) Error() string { return "the command failed" }

// PassesStatus is the annotation of a command that passes on the status of another one: the
// status of its own failures is ExecStatus.
const PassesStatus = "passes-status"

// Exit prints the error that a command line ended with, unless it has been printed, and gives
// the exit status. Commands that its hint quotes get the flags that led to the cluster.
func (f *Factory) Exit(ctx context.Context, command *cobra.Command, args []string, err error) int {
	if err == nil {
		return 0
	}
	if status, ok := errors.AsType[ExitError](err); ok {
		return int(status)
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = context.Cause(ctx)
	}
	if code := fault.CodeOf(err); code != fault.OutputFailed { // which is printed where all of them are
		document := *result.NewError(err)
		document.Hint = wording.Title{Flags: ClusterFlags(command)}.Located(document.Hint)
		_ = printer.PrintError(f.IO, formatOf(args), document) // the stream remembers it
		return code.Exit()
	}
	return fault.OutputFailed.Exit()
}

// formatOf finds --output among arguments that may not have been parsed: an error
// in them is printed in the format that they ask for.
func formatOf(args []string) printer.Format {
	for i, arg := range args {
		if arg == "--" {
			break
		}
		value, ok := strings.CutPrefix(arg, "--output=")
		if !ok {
			value, ok = strings.CutPrefix(arg, "-o")
			value = strings.TrimPrefix(value, "=")
		}
		if (arg == "-o" || arg == "--output") && i+1 < len(args) {
			value, ok = args[i+1], true
		}
		if !ok {
			continue
		}
		if f, err := printer.ParseFormat(value); err == nil {
			return f
		}
	}
	return printer.Format{}
}

// UsageError is the error of a command line that is wrong, with its own hint if it has one.
func UsageError(cmd *cobra.Command, err error) error {
	hint := fault.From(err).Hint
	usage := fault.New(fault.InvalidArgument, "%w", err)
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		hint = flagMeant(cmd, unknown)
	}
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		if must := mustBeOf(invalid); must != "" {
			usage = fault.New(
				fault.InvalidArgument, "invalid argument %q for %q flag: %s", invalid.GetValue(),
				flagName(invalid.GetFlag()), must,
			)
		}
	}
	if hint == "" {
		hint = "see `" + cmd.CommandPath() + " --help`"
	}
	return usage.WithHint("%s", hint)
}

// flagMeant is the flag that is meant by one that does not exist. What begins with
// a dash may also be a name.
func flagMeant(cmd *cobra.Command, unknown *pflag.NotExistError) string {
	typed := "--" + unknown.GetSpecifiedName()
	if group := unknown.GetSpecifiedShortnames(); group != "" {
		typed = "-" + group
	}
	var names []string
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		if !flag.Hidden && flag.Deprecated == "" {
			names = append(names, flag.Name)
		}
	})
	word, _, _ := strings.Cut(strings.TrimLeft(typed, "-"), "=")
	if word == "all" && cmd.Flags().Lookup("owner") != nil {
		return "name the workspaces, or take all of a user: --owner USER"
	}
	if len(word) > 1 { // of one letter every flag would be near
		if near := NearestName(word, names); near != "" {
			return "did you mean --" + near + "?"
		}
	}
	hint := "see `" + cmd.CommandPath() + " --help`"
	if takesNames(cmd) {
		hint += "; a name that begins with - goes after --: `" + cmd.CommandPath() + " " + fault.Command("--", typed) +
			"`"
	}
	return hint
}

// takesNames says whether a command has arguments that may begin with anything.
func takesNames(cmd *cobra.Command) bool { return len(strings.Fields(cmd.Use)) > 1 }

// NearestName is the name that is meant by another one: one that is spelled like
// it, with two letters swapped too, or the only one that begins so. Empty if there is none.
func NearestName(typed string, names []string) string {
	var begin []string
	for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
		if isSwapped(typed, name) {
			return name
		}
		if len(typed) > 1 && strings.HasPrefix(strings.ToLower(name), strings.ToLower(typed)) {
			begin = append(begin, name)
		}
	}
	if near := yamldoc.Nearest(typed, names); near != "" || len(begin) != 1 {
		return near
	}
	return begin[0]
}

// isSwapped says whether two words differ in two neighbouring letters that are swapped.
func isSwapped(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	if len(a) != len(b) {
		return false
	}
	for i := 0; i+1 < len(a); i++ {
		if a[i] != b[i] {
			return a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
		}
	}
	return false
}

// mustBeOf is what the value of a flag has to be, where the error is one of Go's about a
// number or a duration; otherwise empty.
func mustBeOf(invalid *pflag.InvalidValueError) string {
	cause := invalid.Unwrap()
	number, isNumber := errors.AsType[*strconv.NumError](cause)
	if !isNumber && !strings.HasPrefix(cause.Error(), "time: ") {
		return ""
	}
	switch kind := invalid.GetFlag().Value.Type(); {
	case kind == "duration":
		like := "90s or 5m"
		if n, err := strconv.ParseUint(invalid.GetValue(), 10, 16); err == nil {
			text := strconv.FormatUint(n, 10)
			like = text + "s or " + text + "m"
		}
		return "must be a number with its unit, such as " + like
	case kind == "bool":
		return "must be true or false"
	case isNumber && errors.Is(number.Err, strconv.ErrRange):
		return "is too large"
	default:
		return "must be a whole number"
	}
}

// flagName is a flag as an error names it.
func flagName(flag *pflag.Flag) string {
	if flag.Shorthand != "" {
		return "-" + flag.Shorthand + ", --" + flag.Name
	}
	return "--" + flag.Name
}
