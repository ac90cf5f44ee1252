package result

import (
	"fmt"

	"charm.land/lipgloss/v2"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// scriptTable is the init scripts and what has become of them.
func scriptTable(scripts []v1.Script, p style.Page) []string {
	colour := func(row int) lipgloss.Style {
		switch scripts[row].State {
		case v1.ScriptFailed:
			return p.Yellow
		case v1.ScriptDone:
			return p.Green
		}
		return p.Grey
	}
	cols := []style.Column{
		{Title: "SCRIPT", Name: true, Least: 12},
		{Title: "RESULT", Style: colour},
		{Title: "TOOK"},
	}
	several := false
	for _, s := range scripts {
		several = several || s.Object != scripts[0].Object
	}
	if several {
		cols = append(cols, style.Column{Title: "IN", Name: true, Least: 16})
	}
	return table(cols, scripts, p, func(s v1.Script) []string {
		result, took := string(s.State), "-"
		if s.ExitCode != nil {
			result += fmt.Sprintf(", exit code %d", *s.ExitCode)
		}
		if s.Seconds > 0 {
			took = style.Brief(style.Seconds(s.Seconds))
		}
		return []string{s.Name, result, took, s.Object}[:len(cols)]
	})
}

// scriptOutput is what scripts that have failed have said last, and why that is not known.
func (w Workspace) scriptOutput(p style.Page) []string {
	var lines []string
	for _, s := range w.Scripts {
		if s.State == v1.ScriptFailed {
			lines = append(lines, style.Paragraph(wording.LogLines(&v1.LogTail{Script: s.Name, Lines: s.Lines}, p))...)
		}
	}
	if w.ScriptsUnread != "" {
		text := style.Paint(p.Grey, p.Text("cannot read the init scripts' output: "+w.ScriptsUnread))
		lines = append(lines, style.Paragraph([]string{text})...)
	}
	return lines
}
