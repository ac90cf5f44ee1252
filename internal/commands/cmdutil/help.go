package cmdutil

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

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
			cmd.SetUsageTemplate(strings.ReplaceAll(cmd.UsageTemplate(), ".FlagUsages ", fmt.Sprintf(".FlagUsagesWrapped %d ", room)))
		}
		show(cmd, args)
	})
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
