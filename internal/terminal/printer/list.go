package printer

import (
	"strconv"
	"time"

	"charm.land/lipgloss/v2"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// List says how a list of workspaces looks as a table.
type List struct {
	// Namespaces adds the namespace as the first column: for lists of several.
	Namespaces bool
	NoHeaders  bool
}

// ListLines is the table of `berth status`.
func ListLines(items []v1.Workspace, wide bool, l List, out terminal.Output, st style.Styles, now time.Time) []string {
	lines := style.Table(ListColumns(items, wide, l, st, now), out.Room(), st)
	if l.NoHeaders {
		lines = lines[1:]
	}
	return lines
}

// ListColumns are the columns of that table.
func ListColumns(items []v1.Workspace, wide bool, l List, st style.Styles, now time.Time) []style.Column {
	of := func(f func(v1.Workspace) string) []string {
		cells := make([]string, 0, len(items))
		for _, w := range items {
			cells = append(cells, st.Text(f(w)))
		}
		return cells
	}
	stage := func(row int) lipgloss.Style { return st.Stage(items[row].Stage) }
	namespace := style.Column{Title: "NAMESPACE", Name: true, Least: 9, Spare: 6, Cells: of(func(w v1.Workspace) string { return w.Namespace })}
	cols := []style.Column{
		{Title: "NAME", Name: true, Least: 16, Cells: of(func(w v1.Workspace) string { return w.ID })},
		{Title: "OWNER", Name: true, Least: 8, Spare: 3, Cells: of(func(w v1.Workspace) string { return style.OrDash(w.Owner) })},
		{Title: "BLUEPRINT", Name: true, Least: 9, Spare: 1, Cells: of(func(w v1.Workspace) string { return style.OrDash(w.Blueprint) })},
		{Title: "STAGE", Style: stage, Cells: of(func(w v1.Workspace) string { return string(w.Stage) })},
		{Title: "AGE", Cells: of(func(w v1.Workspace) string { return style.Age(w.CreatedAt, now) })},
		{Title: "RESTARTS", Spare: 2, Cells: of(func(w v1.Workspace) string { return strconv.Itoa(w.Restarts()) })},
	}
	if l.Namespaces {
		namespace.Spare = 0
		cols = append([]style.Column{namespace}, cols...)
	}
	if wide && !l.Namespaces {
		cols = append(cols, namespace)
	}
	if wide {
		cols = append(cols,
			style.Column{Title: "NODE", Name: true, Least: 10, Spare: 4, Cells: of(func(w v1.Workspace) string { return style.OrDash(w.Node) })},
			style.Column{Title: "WORKLOAD", Name: true, Least: 10, Spare: 7, Cells: of(func(w v1.Workspace) string { return style.OrDash(w.Workload) })},
			style.Column{Title: "IMAGE", Name: true, Least: 12, Spare: 8, Cells: of(func(w v1.Workspace) string { return style.OrDash(w.MainImage()) })},
			style.Column{Title: "USERSTRING", Name: true, Least: 10, Spare: 5, Cells: of(func(w v1.Workspace) string { return style.OrDash(w.UserString) })})
	}
	return append(cols, style.Column{Title: "WHY", Least: 12, Cells: of(func(w v1.Workspace) string { return Why(w, now) })})
}

// Why says what keeps a workspace from running, and since when.
func Why(w v1.Workspace, now time.Time) string {
	if c := wording.Lasting(w.Cause); c != nil && c.Message != "" {
		return wording.CauseText(*c)
	}
	if w.Stage == v1.StageRunning || w.Message == "" {
		return ""
	}
	if w.Since.IsZero() {
		return w.Message
	}
	return w.Message + " (" + style.Age(w.Since, now) + ")"
}
