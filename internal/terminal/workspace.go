package terminal

import (
	"strconv"
	"time"

	"charm.land/lipgloss/v2"

	v1 "github.com/berthdev/berth/api/v1"
)

// workspaceLines is one workspace in full: `berth status alice`.
func workspaceLines(w v1.Workspace, wide bool, s Streams, st styles) []string {
	out, now := s.Out, s.Now()
	v := view{width: out.Width(), now: now, st: st}
	if !out.TTY {
		v.width = 1 << 16 // nothing is cut where nobody watches
	}
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
			lines = append(lines, warningLine(warning, v, true))
		}
	}
	if len(w.Events) > 0 {
		lines = append(lines, "")
		lines = append(lines, eventTable(w.Events, out, st, now)...)
	}
	return append(lines, commandLines(advice(w, s.Flags), v)...)
}

// facts are the lines of a name and a value.
func facts(w v1.Workspace, st styles, now time.Time) []string {
	cause := ""
	if w.Cause != nil {
		cause = st.text(causeText(*w.Cause))
	}
	rows := [][2]string{
		{"Name", paint(st.bold, st.text(w.ID))},
		{"Namespace", st.text(w.Namespace)},
		{"User string", st.text(w.UserString)},
		{"Owner", st.text(w.Owner)},
		{"Blueprint", st.text(w.Blueprint)},
		{"Workload", st.text(w.Workload)},
		{"Stage", stageText(w, st, now)},
		{"Why", cause},
		{"Node", st.text(w.Node)},
		{"Created", created(w.CreatedAt, now)},
		{"Job", st.text(w.JobID)},
	}
	var lines []string
	for _, r := range rows {
		if r[1] != "" {
			lines = append(lines, paint(st.grey, pad(r[0]+":", 14))+r[1])
		}
	}
	return lines
}

// stageText is the stage, since when, and what it is about.
func stageText(w v1.Workspace, st styles, now time.Time) string {
	text := paint(st.stage(w.Stage), string(w.Stage))
	if !w.Since.IsZero() {
		text += " for " + age(w.Since, now)
	}
	if w.Status == v1.StatusStopping {
		text += ", stopping on request"
	}
	if w.Gone {
		text += " (its pod is gone)"
	}
	if w.Message != "" && (w.Cause == nil || w.Message != w.Cause.Message) {
		text += ": " + st.text(w.Message)
	}
	return text
}

func created(at, now time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.RFC3339) + " (" + age(at, now) + " ago)"
}

func containerTable(cs []v1.Container, wide bool, out Output, st styles) []string {
	cols := []column{
		{title: "CONTAINER", name: true, least: 12},
		{title: "STATE", style: func(row int) lipgloss.Style { return st.container(cs[row].State) }},
		{title: "RESTARTS"},
		{title: "IMAGE", name: true, least: 12},
	}
	for _, c := range cs {
		name, image := c.Name, c.Image
		if c.Init {
			name += " (init)"
		}
		if !wide {
			image = shortImage(image)
		}
		restarts := c.Restarts
		c.Restarts = 0 // it has a column of its own
		for i, cell := range []string{name, containerText(c), strconv.Itoa(restarts), orDash(image)} {
			cols[i].cells = append(cols[i].cells, st.text(cell))
		}
	}
	room := 0
	if out.TTY {
		room = out.Width() - 1
	}
	return table(cols, room, st)
}

// replicaTable is the pods of a workload that the workspace is a part of.
func replicaTable(rs []v1.Replica, out Output, st styles) []string {
	cols := []column{
		{title: "POD", name: true, least: 16},
		{title: "STAGE", style: func(row int) lipgloss.Style { return st.stage(rs[row].Stage) }},
		{title: "NODE", name: true, least: 10},
		{title: "WHY", least: 12},
	}
	for _, r := range rs {
		for i, cell := range []string{r.Name, string(r.Stage), orDash(r.Node), r.Message} {
			cols[i].cells = append(cols[i].cells, st.text(cell))
		}
	}
	room := 0
	if out.TTY {
		room = out.Width() - 1
	}
	return table(cols, room, st)
}

// advice is the command to type next for a workspace as it stands.
func advice(w v1.Workspace, flags []string) []command {
	t := Title{UserString: w.UserString, ID: w.ID, Flags: flags}
	switch w.Verdict() {
	case v1.VerdictRunning:
		return []command{{line: t.command("exec")}}
	case v1.VerdictFailed:
		return []command{{t.command("diagnose"), "everything that is known about it"}, {t.command("delete"), "remove it"}}
	case v1.VerdictWaiting:
		cs := []command{{t.command("diagnose"), "everything that is known about it"}}
		if w.UserString != "" { // without it, there is nothing to provision
			cs = append([]command{{t.command("provision"), "follow it"}}, cs...)
		}
		return cs
	}
	return nil
}
