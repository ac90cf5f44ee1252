package cmdutil

import (
	"cmp"
	"io"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/style"
)

// readable is how long lines of help get, however wide the terminal is.
const readable = 100

// FitHelp has help printed as wide as the terminal is: what is longer is broken between words.
// Elsewhere it is as it was written.
func FitHelp(root *cobra.Command, out terminal.Output) {
	show := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if room := min(out.Room(), readable); room > 0 {
			cmd.Long = reflow(cmd.Long, room)
			cmd.Example = reflow(cmd.Example, room)
			usage := wrapped(cmd, room)
			cmd.SetUsageFunc(func(cmd *cobra.Command) error {
				_, err := io.WriteString(cmd.OutOrStderr(), usage)
				return err
			})
		}
		show(cmd, args)
	})
}

// wrapped is the usage of a command with its flags as wide as there is room. A template would say so, too, and would
// bring text/template along: third_party/template.
func wrapped(cmd *cobra.Command, room int) string {
	usage := cmd.UsageString()
	for _, flags := range []*pflag.FlagSet{cmd.LocalFlags(), cmd.InheritedFlags()} {
		if written := strings.TrimSpace(flags.FlagUsages()); written != "" {
			usage = strings.Replace(usage, written, strings.TrimSpace(flags.FlagUsagesWrapped(room)), 1)
		}
	}
	return usage
}

// reflow breaks a text between words, paragraph by paragraph: lines that are indented are a layout
// of their own, in which each line stays one.
func reflow(text string, room int) string {
	var lines []string
	var paragraph []string
	end := func() {
		if len(paragraph) > 0 {
			lines = append(lines, style.Wrap(strings.Join(paragraph, " "), room)...)
		}
		paragraph = nil
	}
	for line := range strings.SplitSeq(text, "\n") {
		switch {
		case line == "":
			end()
			lines = append(lines, "")
		case strings.HasPrefix(line, " "):
			end()
			lines = append(lines, hang(line, room)...)
		default:
			paragraph = append(paragraph, line)
		}
	}
	end()
	return strings.Join(lines, "\n")
}

// hang breaks a line of a layout, and puts the rest below where its last column begins.
func hang(line string, room int) []string {
	if style.Width(line) <= room {
		return []string{line}
	}
	column := len(line) - len(strings.TrimLeft(line, " "))
	if i := strings.LastIndex(line[:min(len(line), room/2)], "  "); i >= column {
		column = i + len("  ")
	}
	return style.Labelled(line[:column], style.Wrap(line[column:], room-column))
}

// Group makes a command of one that only has others below it: it prints its help, and
// refuses what is none of them.
func Group(cmd *cobra.Command) *cobra.Command {
	cmd.Args = unknownCommand
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	return cmd
}

// unknownCommand refuses what is not a command, and suggests the one that is meant.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	err := fault.New(fault.InvalidArgument, "unknown command %q", args[0])
	if like := meant(cmd, args[0]); like != "" {
		return err.WithHint(
			"did you mean `%s %s`?", cmd.CommandPath(), fault.Command(append([]string{like}, args[1:]...)...),
		)
	}
	return err.WithHint("see `%s --help`", cmd.CommandPath())
}

// Subcommand refuses an argument that can only be meant to be a command below another one which
// has arguments as well; nil if no command is like it.
func Subcommand(cmd *cobra.Command, typed string) error {
	like := meant(cmd, typed)
	if like == "" {
		return nil
	}
	return fault.New(fault.InvalidArgument, "unknown command %q", typed).
		WithHint("did you mean `%s %s`?", cmd.CommandPath(), like)
}

// likeness is of how many letters one may be different in a word that is meant to be a command.
const likeness = 3

// meant is the command that was meant: the one that has that name in other tools, that
// begins so, or that is spelled like it.
func meant(in *cobra.Command, typed string) string {
	is := func(like func(*cobra.Command) bool) string {
		if i := slices.IndexFunc(in.Commands(), like); i >= 0 {
			return in.Commands()[i].Name()
		}
		return ""
	}
	in.SuggestionsMinimumDistance = len(typed) / likeness
	like := cmp.Or(
		is(func(c *cobra.Command) bool { return slices.Contains(c.SuggestFor, strings.ToLower(typed)) }),
		is(func(c *cobra.Command) bool { return !c.Hidden && strings.HasPrefix(c.Name(), typed) }),
	)
	if spelled := in.SuggestionsFor(typed); like == "" && len(typed) >= likeness && len(spelled) > 0 {
		like = spelled[0]
	}
	return like
}

// CheckTopics makes `help` of something that there is not an error, which cobra prints help
// about.
func CheckTopics(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	for _, c := range root.Commands() {
		if c.Name() != "help" {
			continue
		}
		show := c.Run
		c.Run = nil
		c.RunE = func(help *cobra.Command, args []string) error {
			found, left, err := root.Find(args)
			if err != nil || len(left) > 0 {
				return unknownTopic(found, left)
			}
			show(help, args)
			return nil
		}
	}
}

// CheckShells makes the completion for a shell that there is none for an error, which cobra
// prints help about.
func CheckShells(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() == "completion" {
			Group(c)
		}
	}
}

func unknownTopic(in *cobra.Command, left []string) error {
	if len(left) == 0 || !in.HasSubCommands() {
		err := fault.New(fault.InvalidArgument, "%s has no topic %q", in.CommandPath(), strings.Join(left, " "))
		return err.WithHint("see `%s --help`", in.CommandPath())
	}
	err := fault.New(fault.InvalidArgument, "unknown help topic %q", left[0])
	if like := meant(in, left[0]); like != "" {
		return err.WithHint(
			"did you mean `%s help%s %s`?", in.Root().Name(), strings.TrimPrefix(in.CommandPath(), in.Root().Name()),
			like,
		)
	}
	return err.WithHint("see `%s --help`", in.CommandPath())
}

// Version is what the Go toolchain has recorded in the binary.
func Version() v1.Version {
	v := v1.Version{
		Version:   "(devel)",
		GoVersion: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if info.Main.Version != "" {
		v.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Commit = s.Value
		case "vcs.time":
			v.Date = s.Value
		}
	}
	return v
}
