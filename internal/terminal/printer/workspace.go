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

// WorkspaceLines is one workspace in full: `berth status alice`.
func WorkspaceLines(w v1.Workspace, wide bool, s terminal.Streams, st style.Styles) []string {
	out, now := s.Out, s.Now()
	v := sheet(out, now, st)
	lines := facts(w, st, now)
	if len(w.Containers) > 0 {
		lines = append(lines, "")
		lines = append(lines, containerTable(w.Containers, wide, out, st)...)
	}
	if len(w.Replicas) > 0 {
		lines = append(lines, "")
		lines = append(lines, replicaTable(w.Replicas, out, st)...)
	}
	if len(w.Warnings) > 0 {
		lines = append(lines, "")
		for _, warning := range w.Warnings {
			lines = append(lines, wording.WarningLine(warning, v, true))
		}
	}
	if len(w.Events) > 0 {
		lines = append(lines, "")
		lines = append(lines, eventTable(w.Events, out, st, now)...)
	}
	return append(lines, wording.CommandLines(wording.Advice(w, s.Flags), v)...)
}

// facts are the lines of a name and a value.
func facts(w v1.Workspace, st style.Styles, now time.Time) []string {
	cause := ""
	if c := wording.Lasting(w.Cause); c != nil {
		cause = st.Text(wording.CauseText(*c))
	}
	return labels(st, [][2]string{
		{"Name", style.Paint(st.Bold, st.Text(w.ID))},
		{"Namespace", st.Text(w.Namespace)},
		{"User string", st.Text(w.UserString)},
		{"Owner", st.Text(w.Owner)},
		{"Blueprint", st.Text(w.Blueprint)},
		{"Workload", st.Text(w.Workload)},
		{"Stage", stageText(w, st, now)},
		{"Why", cause},
		{"Node", st.Text(w.Node)},
		{"Created", created(w.CreatedAt, now)},
		{"Job", st.Text(w.JobID)},
	})
}

// stageText is the stage, since when, and what it is about.
func stageText(w v1.Workspace, st style.Styles, now time.Time) string {
	text := style.Paint(st.Stage(w.Stage), string(w.Stage))
	if !w.Since.IsZero() {
		text += " for " + style.Age(w.Since, now)
	}
	if w.Status == v1.StatusStopping {
		text += ", stopping on request"
	}
	if w.Gone {
		text += " (its pod is gone)"
	}
	if w.Message != "" && (w.Cause == nil || w.Message != w.Cause.Message) {
		text += ": " + st.Text(w.Message)
	}
	return text
}

func created(at, now time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.RFC3339) + " (" + style.Age(at, now) + " ago)"
}

func containerTable(cs []v1.Container, wide bool, out terminal.Output, st style.Styles) []string {
	cols := []style.Column{
		{Title: "CONTAINER", Name: true, Least: 12},
		{Title: "STATE", Style: func(row int) lipgloss.Style { return st.Container(cs[row].State) }},
		{Title: "RESTARTS"},
		{Title: "IMAGE", Name: true, Least: 12},
	}
	for _, c := range cs {
		name, image := c.Name, c.Image
		if c.Init {
			name += " (init)"
		}
		if !wide {
			image = wording.ShortImage(image)
		}
		restarts := c.Restarts
		c.Restarts = 0 // it has a column of its own
		for i, cell := range []string{name, wording.ContainerText(c), strconv.Itoa(restarts), style.OrDash(image)} {
			cols[i].Cells = append(cols[i].Cells, st.Text(cell))
		}
	}
	return style.Table(cols, out.Room(), st)
}

// replicaTable is the pods of a workload that the workspace is a part of.
func replicaTable(rs []v1.Replica, out terminal.Output, st style.Styles) []string {
	cols := []style.Column{
		{Title: "POD", Name: true, Least: 16},
		{Title: "STAGE", Style: func(row int) lipgloss.Style { return st.Stage(rs[row].Stage) }},
		{Title: "NODE", Name: true, Least: 10},
		{Title: "WHY", Least: 12},
	}
	for _, r := range rs {
		for i, cell := range []string{r.Name, string(r.Stage), style.OrDash(r.Node), r.Message} {
			cols[i].Cells = append(cols[i].Cells, st.Text(cell))
		}
	}
	return style.Table(cols, out.Room(), st)
}
