package terminal

import (
	"strconv"
	"time"

	"charm.land/lipgloss/v2"
	"k8s.io/apimachinery/pkg/util/duration"

	v1 "github.com/berthdev/berth/api/v1"
)

// List says how a list of workspaces looks as a table.
type List struct {
	// Namespaces adds the namespace as the first column: for lists of several.
	Namespaces bool
	NoHeaders  bool
}

// listLines is the table of `berth status`.
func listLines(items []v1.Workspace, wide bool, l List, out Output, st styles, now time.Time) []string {
	room := 0
	if out.TTY {
		room = out.Width() - 1
	}
	lines := table(listColumns(items, wide, l, st, now), room, st)
	if l.NoHeaders {
		lines = lines[1:]
	}
	return lines
}

func listColumns(items []v1.Workspace, wide bool, l List, st styles, now time.Time) []column {
	of := func(f func(v1.Workspace) string) []string {
		cells := make([]string, 0, len(items))
		for _, w := range items {
			cells = append(cells, st.text(f(w)))
		}
		return cells
	}
	stage := func(row int) lipgloss.Style { return st.stage(items[row].Stage) }
	namespace := column{title: "NAMESPACE", name: true, least: 9, spare: 6, cells: of(func(w v1.Workspace) string { return w.Namespace })}
	cols := []column{
		{title: "NAME", name: true, least: 16, cells: of(func(w v1.Workspace) string { return w.ID })},
		{title: "OWNER", name: true, least: 8, spare: 3, cells: of(func(w v1.Workspace) string { return orDash(w.Owner) })},
		{title: "BLUEPRINT", name: true, least: 9, spare: 1, cells: of(func(w v1.Workspace) string { return orDash(w.Blueprint) })},
		{title: "STAGE", style: stage, cells: of(func(w v1.Workspace) string { return string(w.Stage) })},
		{title: "AGE", cells: of(func(w v1.Workspace) string { return age(w.CreatedAt, now) })},
		{title: "RESTARTS", spare: 2, cells: of(func(w v1.Workspace) string { return strconv.Itoa(w.Restarts()) })},
	}
	if l.Namespaces {
		namespace.spare = 0
		cols = append([]column{namespace}, cols...)
	}
	if wide && !l.Namespaces {
		cols = append(cols, namespace)
	}
	if wide {
		cols = append(cols,
			column{title: "NODE", name: true, least: 10, spare: 4, cells: of(func(w v1.Workspace) string { return orDash(w.Node) })},
			column{title: "WORKLOAD", name: true, least: 10, spare: 7, cells: of(func(w v1.Workspace) string { return orDash(w.Workload) })},
			column{title: "IMAGE", name: true, least: 12, spare: 8, cells: of(func(w v1.Workspace) string { return orDash(image(w)) })},
			column{title: "USERSTRING", name: true, least: 10, spare: 5, cells: of(func(w v1.Workspace) string { return orDash(w.UserString) })})
	}
	return append(cols, column{title: "WHY", least: 12, cells: of(func(w v1.Workspace) string { return why(w, now) })})
}

// image is what the workspace runs: the image of its main container, which has
// the ID before its name where it is injected; else that of the first.
func image(w v1.Workspace) string {
	const mainContainer = "k8shell-main"
	first := ""
	for _, c := range w.Containers {
		switch {
		case c.Init:
		case c.Name == mainContainer || c.Name == w.ID+"-"+mainContainer:
			return c.Image
		case first == "":
			first = c.Image
		}
	}
	return first
}

// age tells an age as kubectl does: 3h, 2m, 6d.
func age(since, now time.Time) string {
	if since.IsZero() {
		return "-"
	}
	return duration.HumanDuration(max(now.Sub(since), 0))
}

// why says what keeps a workspace from running, and since when.
func why(w v1.Workspace, now time.Time) string {
	if w.Cause != nil && w.Cause.Message != "" {
		return causeText(*w.Cause)
	}
	if w.Stage == v1.StageRunning || w.Message == "" {
		return ""
	}
	if w.Since.IsZero() {
		return w.Message
	}
	return w.Message + " (" + age(w.Since, now) + ")"
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
