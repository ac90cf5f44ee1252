package terminal

import (
	"strconv"
	"time"

	"charm.land/lipgloss/v2"

	v1 "github.com/berthdev/berth/api/v1"
)

// WorkspaceLines is one workspace in full: `berth status alice`.
func WorkspaceLines(w v1.Workspace, wide bool, s Streams, st Styles) []string {
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
			lines = append(lines, WarningLine(warning, v, true))
		}
	}
	if len(w.Events) > 0 {
		lines = append(lines, "")
		lines = append(lines, eventTable(w.Events, out, st, now)...)
	}
	return append(lines, CommandLines(advice(w, s.Flags), v)...)
}

// facts are the lines of a name and a value.
func facts(w v1.Workspace, st Styles, now time.Time) []string {
	cause := ""
	if w.Cause != nil {
		cause = st.Text(CauseText(*w.Cause))
	}
	return labels(st, [][2]string{
		{"Name", Paint(st.Bold, st.Text(w.ID))},
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
func stageText(w v1.Workspace, st Styles, now time.Time) string {
	text := Paint(st.Stage(w.Stage), string(w.Stage))
	if !w.Since.IsZero() {
		text += " for " + Age(w.Since, now)
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
	return at.UTC().Format(time.RFC3339) + " (" + Age(at, now) + " ago)"
}

func containerTable(cs []v1.Container, wide bool, out Output, st Styles) []string {
	cols := []Column{
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
			image = ShortImage(image)
		}
		restarts := c.Restarts
		c.Restarts = 0 // it has a column of its own
		for i, cell := range []string{name, ContainerText(c), strconv.Itoa(restarts), OrDash(image)} {
			cols[i].Cells = append(cols[i].Cells, st.Text(cell))
		}
	}
	return Table(cols, out.Room(), st)
}

// replicaTable is the pods of a workload that the workspace is a part of.
func replicaTable(rs []v1.Replica, out Output, st Styles) []string {
	cols := []Column{
		{Title: "POD", Name: true, Least: 16},
		{Title: "STAGE", Style: func(row int) lipgloss.Style { return st.Stage(rs[row].Stage) }},
		{Title: "NODE", Name: true, Least: 10},
		{Title: "WHY", Least: 12},
	}
	for _, r := range rs {
		for i, cell := range []string{r.Name, string(r.Stage), OrDash(r.Node), r.Message} {
			cols[i].Cells = append(cols[i].Cells, st.Text(cell))
		}
	}
	return Table(cols, out.Room(), st)
}

// advice is the command to type next for a workspace as it stands.
func advice(w v1.Workspace, flags []string) []Command {
	t := Title{UserString: w.UserString, ID: w.ID, Flags: flags}
	switch w.Verdict() {
	case v1.VerdictRunning:
		return []Command{{Line: t.Command("exec")}}
	case v1.VerdictFailed:
		return []Command{{t.Command("diagnose"), "everything that is known about it"}, {t.Command("delete"), "remove it"}}
	case v1.VerdictWaiting:
		cs := []Command{{t.Command("diagnose"), "everything that is known about it"}}
		if w.UserString != "" { // without it, there is nothing to provision
			cs = append([]Command{{t.Command("provision"), "follow it"}}, cs...)
		}
		return cs
	}
	return nil
}
