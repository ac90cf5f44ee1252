package terminal

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	v1 "github.com/berthdev/berth/api/v1"
)

// headlineWidth is where the second half of a headline begins, if there is room.
const headlineWidth = 24

// headline puts two halves on one line, or below each other if they do not fit.
func headline(head, rest string, v view) []string {
	line := "  " + head
	if rest == "" {
		return []string{line}
	}
	if joined := pad(line, 2+headlineWidth) + "  " + rest; width(joined) < v.width {
		return []string{joined}
	}
	return append([]string{line}, indent([]string{rest}, v)...)
}

// indent wraps texts into the room that is left of the terminal.
func indent(texts []string, v view) []string {
	const by = 4
	var lines []string
	for _, t := range texts {
		for _, l := range wrap(t, max(v.width-1-by, 20)) {
			lines = append(lines, strings.TrimRight(strings.Repeat(" ", by)+l, " "))
		}
	}
	return lines
}

// logLines are a container's last words, each behind a bar.
func logLines(t *v1.LogTail, v view) []string {
	if t == nil || len(t.Lines) == 0 {
		return nil
	}
	label := "its last words"
	if t.Container != "" {
		label = v.st.text(t.Container) + "'s last words"
	}
	if t.Previous {
		label += " (previous instance)"
	}
	lines := append([]string{""}, indent([]string{label + ":"}, v)...)
	for _, text := range t.Lines {
		for l := range strings.SplitSeq(ansi.Hardwrap(v.st.text(text), max(v.width-1-6, 20), true), "\n") {
			lines = append(lines, strings.TrimRight("    "+paint(v.st.grey, v.st.bar)+" "+l, " "))
		}
	}
	return lines
}

// commandLines are the commands to type next, whole, so that they can be copied.
func commandLines(cs []command, v view) []string {
	if len(cs) == 0 {
		return nil
	}
	widest := 0
	for i := range cs {
		cs[i].line = v.st.text(cs[i].line) // a user string may come from the cluster
		widest = max(widest, width(cs[i].line))
	}
	lines := []string{""}
	for _, c := range cs {
		line := "    " + pad(c.line, widest) + "    "
		if width(line)+width(c.why) >= v.width {
			c.why = ""
		}
		lines = append(lines, strings.TrimRight(line+paint(v.st.grey, c.why), " "))
	}
	return lines
}
