package wording

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal/style"
)

// Page is what a text is laid out on: how wide it is, in which style, and the
// moment that ages are told from.
type Page struct {
	Width  int
	Now    time.Time
	Styles style.Styles
}

// headlineWidth is where the second half of a headline begins, if there is room.
const headlineWidth = 24

// Headline puts two halves on one line, or below each other if they do not fit.
func Headline(head, rest string, p Page) []string {
	line := "  " + head
	if rest == "" {
		return []string{line}
	}
	if joined := style.Pad(line, 2+headlineWidth) + "  " + rest; style.Width(joined) < p.Width {
		return []string{joined}
	}
	return append([]string{line}, Indent([]string{rest}, p)...)
}

// Indent wraps texts into the room that is left of the terminal.
func Indent(texts []string, p Page) []string {
	const by = 4
	var lines []string
	for _, t := range texts {
		for _, l := range style.Wrap(t, max(p.Width-1-by, 20)) {
			lines = append(lines, strings.TrimRight(strings.Repeat(" ", by)+l, " "))
		}
	}
	return lines
}

// LogLines are a container's last words, each behind a bar.
func LogLines(t *v1.LogTail, p Page) []string {
	if t == nil || len(t.Lines) == 0 {
		return nil
	}
	label := "its last words"
	if t.Container != "" {
		label = p.Styles.Text(t.Container) + "'s last words"
	}
	if t.Previous {
		label += " (previous instance)"
	}
	lines := append([]string{""}, Indent([]string{label + ":"}, p)...)
	for _, text := range t.Lines {
		for l := range strings.SplitSeq(ansi.Hardwrap(p.Styles.Text(text), max(p.Width-1-6, 20), true), "\n") {
			lines = append(lines, strings.TrimRight("    "+style.Paint(p.Styles.Grey, p.Styles.Bar)+" "+l, " "))
		}
	}
	return lines
}

// CommandLines are the commands to type next, whole, so that they can be copied.
func CommandLines(cs []Command, p Page) []string {
	if len(cs) == 0 {
		return nil
	}
	widest := 0
	for i := range cs {
		cs[i].Line = p.Styles.Text(cs[i].Line) // a user string may come from the cluster
		widest = max(widest, style.Width(cs[i].Line))
	}
	lines := []string{""}
	for _, c := range cs {
		line := "    " + style.Pad(c.Line, widest) + "    "
		if style.Width(line)+style.Width(c.Why) >= p.Width {
			c.Why = ""
		}
		lines = append(lines, strings.TrimRight(line+style.Paint(p.Styles.Grey, c.Why), " "))
	}
	return lines
}

// Header says what is worked on: alice~dev → alice-3f9c2e1 in workspaces.
func Header(t Title, p Page) string {
	id, in := p.Styles.Text(t.ID), ""
	if t.Namespace != "" {
		in = " in " + p.Styles.Text(t.Namespace)
	}
	if t.UserString == "" || t.UserString == t.ID {
		room := p.Width - 1 - style.Width(in)
		return style.Paint(p.Styles.Bold, p.Styles.CutMiddle(id, max(room, 8))) + style.Paint(p.Styles.Grey, in)
	}
	arrow := " " + p.Styles.Arrow + " "
	room := p.Width - 1 - style.Width(arrow) - style.Width(id) - style.Width(in)
	user := p.Styles.CutMiddle(p.Styles.Text(t.UserString), max(room, 8))
	return style.Paint(p.Styles.Bold, user) + style.Paint(p.Styles.Grey, arrow) + id + style.Paint(p.Styles.Grey, in)
}

// WarningLine is one warning with its count and, while it is live, its age.
func WarningLine(w v1.Warning, p Page, live bool) string {
	name := p.Styles.Text(w.Reason)
	if w.Count > 1 {
		name += fmt.Sprintf(" %s%d", p.Styles.Times, w.Count)
	}
	name = p.Styles.CutMiddle(name, max(p.Width/2-6, 8))
	age := ""
	if live && !w.At.IsZero() && p.Now.Sub(w.At) >= 1e9 {
		age = "   " + style.Whole(p.Now.Sub(w.At)) + " ago"
	}
	if style.Width(age) > p.Width/4 {
		age = ""
	}
	room := p.Width - 1 - 4 - style.Width(name) - 3 - style.Width(age)
	text := p.Styles.Cut(p.Styles.Text(WarningText(w)), max(room, 0))
	return "  " + style.Paint(p.Styles.Yellow, p.Styles.Warning+" "+name) + "   " + text + style.Paint(p.Styles.Grey, age)
}
