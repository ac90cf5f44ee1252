package wording

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal/style"
)

// ScriptText is what has become of an init script; while it runs, what it has said last.
// The pod is named if it is not that of the workspace's name.
func ScriptText(s v1.Script, id string) string {
	text := "init script"
	switch {
	case s.State == v1.ScriptFailed && s.ExitCode != nil:
		text = fmt.Sprintf("failed with exit code %d", *s.ExitCode)
	case s.State == v1.ScriptSkipped:
		text = "init script, has run before"
	case s.State == v1.ScriptRunning && len(s.Lines) > 0:
		text = s.Lines[len(s.Lines)-1]
	}
	if pod := s.Pod(); pod != "" && pod != id && s.State == v1.ScriptFailed {
		text += " in " + pod
	}
	return text
}

// ScriptFailed says which init scripts have failed; empty if none has.
func ScriptFailed(all []v1.Script) string {
	var failed []string
	for _, s := range all {
		if s.State == v1.ScriptFailed {
			failed = append(failed, s.Name)
		}
	}
	switch len(failed) {
	case 0:
		return ""
	case 1:
		return "init script " + failed[0] + " failed"
	}
	return "init scripts failed: " + strings.Join(failed, ", ")
}

// OutputLines are lines that something has written, each behind a bar and wrapped.
func OutputLines(output []string, p style.Page) []string {
	var lines []string
	for _, text := range output {
		for l := range strings.SplitSeq(ansi.Hardwrap(p.Text(text), max(p.Width-1-6, 20), true), "\n") {
			lines = append(lines, strings.TrimRight("    "+style.Paint(p.Grey, p.Bar)+" "+l, " "))
		}
	}
	return lines
}
