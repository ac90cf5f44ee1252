package printer

import (
	"io"
	"time"

	"charm.land/lipgloss/v2"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/style"
)

// jobsLines is the table of `berth jobs`.
func jobsLines(items []v1.Job, wide bool, s terminal.Streams, st style.Styles) []string {
	now := s.Now()
	of := func(f func(v1.Job) string) []string {
		cells := make([]string, 0, len(items))
		for _, j := range items {
			cells = append(cells, st.Text(f(j)))
		}
		return cells
	}
	cols := []style.Column{
		{Title: "JOB", Cells: of(func(j v1.Job) string { return j.ID })},
		{Title: "WORKSPACE", Name: true, Least: 12, Cells: of(func(j v1.Job) string { return j.WorkspaceName })},
		{Title: "USER", Name: true, Least: 6, Spare: 2, Cells: of(func(j v1.Job) string { return style.OrDash(j.Username) })},
		{Title: "STATUS", Style: func(row int) lipgloss.Style { return jobColour(items[row].State, st) }, Cells: of(func(j v1.Job) string { return string(j.State) })},
		{Title: "AGE", Cells: of(func(j v1.Job) string { return style.Age(j.CreatedAt, now) })},
		{Title: "DURATION", Spare: 1, Cells: of(func(j v1.Job) string { return style.Brief(jobTime(j, now)) })},
		{Title: "STAGE", Cells: of(func(j v1.Job) string { return string(j.Stage) })},
	}
	if wide {
		cols = append(cols,
			style.Column{Title: "CODE", Spare: 3, Cells: of(func(j v1.Job) string { return style.OrDash(j.Code) })},
			style.Column{Title: "UPDATED", Spare: 4, Cells: of(func(j v1.Job) string { return style.Age(j.UpdatedAt, now) })})
	}
	return style.Table(cols, s.Out.Room(), st)
}

// jobTime is how long a job took, or has taken so far.
func jobTime(j v1.Job, now time.Time) time.Duration {
	switch {
	case !j.FinishedAt.IsZero():
		return j.FinishedAt.Sub(j.CreatedAt)
	case j.State == v1.JobRunning:
		return now.Sub(j.CreatedAt)
	}
	return j.UpdatedAt.Sub(j.CreatedAt)
}

func jobColour(s v1.JobState, st style.Styles) lipgloss.Style {
	switch s {
	case v1.JobSucceeded:
		return st.Stage(v1.StageRunning)
	case v1.JobFailed:
		return st.Stage(v1.StageFailed)
	default:
		return st.Grey
	}
}

// jobLines is one job in full: `berth jobs JOB`.
func jobLines(j v1.Job, s terminal.Streams, st style.Styles) []string {
	lines := jobHead(j, s, st)
	if len(j.Events) > 0 {
		lines = append(lines, "")
		lines = append(lines, entryTable(j, s, st)...)
	}
	return lines
}

func jobHead(j v1.Job, s terminal.Streams, st style.Styles) []string {
	state := style.Paint(jobColour(j.State, st), string(j.State))
	if j.Code != "" {
		state += " (" + st.Text(j.Code) + ")"
	}
	return labels(st, [][2]string{
		{"Job", style.Paint(st.Bold, st.Text(j.ID))},
		{"Workspace", st.Text(j.WorkspaceName)},
		{"User", st.Text(j.Username)},
		{"Status", state},
		{"Stage", string(j.Stage)},
		{"Begun", created(j.CreatedAt, s.Now())},
		{"Took", style.Brief(jobTime(j, s.Now()))},
	})
}

func entryTable(j v1.Job, s terminal.Streams, st style.Styles) []string {
	cols := []style.Column{
		{Title: "TIME", Spare: 3},
		{Title: "OFFSET"},
		{Title: "TYPE"},
		{Title: "STATUS", Name: true, Least: 8},
		{Title: "OBJECT", Name: true, Least: 12, Spare: 1},
		{Title: "MESSAGE", Least: 20},
	}
	for _, e := range j.Events {
		for i, cell := range eventCells(j, e) {
			cols[i].Cells = append(cols[i].Cells, st.Text(cell))
		}
	}
	return style.Table(cols, s.Out.Room(), st)
}

func eventCells(j v1.Job, e v1.JobEvent) []string {
	return []string{
		e.Timestamp.UTC().Format("15:04:05.000"), "+" + style.Brief(e.Timestamp.Sub(j.CreatedAt)), string(e.Type),
		style.OrDash(e.Status), style.OrDash(e.ObjectName), e.Message,
	}
}

// PrintHistory prints jobs with everything in them, one after the other.
func PrintHistory(s terminal.Streams, f Format, list *v1.JobList) error {
	if !f.IsText() {
		return Print(s, f, list)
	}
	st := s.Out.Styles()
	var lines []string
	for i, j := range list.Items {
		if i > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, jobLines(j, s, st)...)
	}
	_, err := io.WriteString(s.Out, style.JoinLines(lines))
	return err
}
