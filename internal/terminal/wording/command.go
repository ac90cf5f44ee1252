package wording

import (
	"strings"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/terminal/style"
)

// Command is something to type next, and what it does.
type Command struct{ Line, Why string }

// CommandLines are the commands to type next, whole, so that they can be copied.
func CommandLines(commands []Command, p style.Page) []string {
	widest := 0
	for i := range commands {
		commands[i].Line = p.Text(commands[i].Line) // a user string may come from the cluster
		widest = max(widest, style.Width(commands[i].Line))
	}
	var lines []string
	for _, c := range commands {
		line := "    " + style.Pad(c.Line, widest) + "    "
		if style.Width(line)+style.Width(c.Why) >= p.Width {
			c.Why = ""
		}
		lines = append(lines, strings.TrimRight(line+style.Paint(p.Grey, c.Why), " "))
	}
	return style.Paragraph(lines)
}

// Flag is a flag and its value as one would type them.
func Flag(name, value string) string { return name + " " + fault.Word(value) }
