package terminal

import (
	"fmt"
	"io"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	v1 "github.com/berthdev/berth/api/v1"
)

// jobsLines is the table of `berth jobs`.
func jobsLines(items []v1.Job, wide bool, s Streams, st Styles) []string {
	now := s.Now()
	of := func(f func(v1.Job) string) []string {
		cells := make([]string, 0, len(items))
		for _, j := range items {
			cells = append(cells, st.Text(f(j)))
		}
		return cells
	}
	cols := []Column{
		{Title: "JOB", Cells: of(func(j v1.Job) string { return j.ID })},
		{Title: "WORKSPACE", Name: true, Least: 12, Cells: of(func(j v1.Job) string { return j.WorkspaceName })},
		{Title: "USER", Name: true, Least: 6, Spare: 2, Cells: of(func(j v1.Job) string { return OrDash(j.Username) })},
		{Title: "STATUS", Style: func(row int) lipgloss.Style { return jobColour(items[row].State, st) }, Cells: of(func(j v1.Job) string { return string(j.State) })},
		{Title: "AGE", Cells: of(func(j v1.Job) string { return Age(j.CreatedAt, now) })},
		{Title: "DURATION", Spare: 1, Cells: of(func(j v1.Job) string { return Brief(jobTime(j, now)) })},
		{Title: "STAGE", Cells: of(func(j v1.Job) string { return string(j.Stage) })},
	}
	if wide {
		cols = append(cols,
			Column{Title: "CODE", Spare: 3, Cells: of(func(j v1.Job) string { return OrDash(j.Code) })},
			Column{Title: "UPDATED", Spare: 4, Cells: of(func(j v1.Job) string { return Age(j.UpdatedAt, now) })})
	}
	return Table(cols, s.Out.Room(), st)
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

func jobColour(s v1.JobState, st Styles) lipgloss.Style {
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
func jobLines(j v1.Job, s Streams, st Styles) []string {
	lines := jobHead(j, s, st)
	if len(j.Events) > 0 {
		lines = append(lines, "")
		lines = append(lines, entryTable(j, s, st)...)
	}
	return lines
}

func jobHead(j v1.Job, s Streams, st Styles) []string {
	state := Paint(jobColour(j.State, st), string(j.State))
	if j.Code != "" {
		state += " (" + st.Text(j.Code) + ")"
	}
	return labels(st, [][2]string{
		{"Job", Paint(st.Bold, st.Text(j.ID))},
		{"Workspace", st.Text(j.WorkspaceName)},
		{"User", st.Text(j.Username)},
		{"Status", state},
		{"Stage", string(j.Stage)},
		{"Begun", created(j.CreatedAt, s.Now())},
		{"Took", Brief(jobTime(j, s.Now()))},
	})
}

func entryTable(j v1.Job, s Streams, st Styles) []string {
	cols := []Column{
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
	return Table(cols, s.Out.Room(), st)
}

func eventCells(j v1.Job, e v1.JobEvent) []string {
	return []string{
		e.Timestamp.UTC().Format("15:04:05.000"), "+" + Brief(e.Timestamp.Sub(j.CreatedAt)), string(e.Type),
		OrDash(e.Status), OrDash(e.ObjectName), e.Message,
	}
}

// PrintHistory prints jobs with everything in them, one after the other.
func PrintHistory(s Streams, f Format, list *v1.JobList) error {
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
	_, err := io.WriteString(s.Out, JoinLines(lines))
	return err
}

// normalJobs is a list where nothing is in it, too.
func normalJobs(d v1.JobList) *v1.JobList {
	list := v1.JobList{TypeMeta: v1.Kind(v1.KindJobList), Items: make([]v1.Job, 0, len(d.Items))}
	for _, j := range d.Items {
		j.TypeMeta = v1.Kind(v1.KindJob)
		list.Items = append(list.Items, j)
	}
	return &list
}

// JobFollower prints a job while it grows: each entry once, in a line. Where a
// document is asked for, that is printed at the end.
type JobFollower struct {
	streams Streams
	format  Format
	st      Styles
	shown   map[string]string // messages by the IDs of entries
}

// FollowJob makes the printer of one job.
func FollowJob(s Streams, f Format) *JobFollower {
	return &JobFollower{streams: s, format: f, st: s.Out.Styles(), shown: map[string]string{}}
}

// Show prints what is new, and what has happened again.
func (f *JobFollower) Show(j v1.Job) {
	if !f.format.IsText() {
		return
	}
	for _, e := range j.Events {
		if before, ok := f.shown[e.ID]; ok && before == e.Message {
			continue
		}
		f.shown[e.ID] = e.Message
		cells := eventCells(j, e)
		for i, width := range []int{0, 8, 8, 12, 0} {
			cells[i] = Pad(f.st.Text(cells[i]), width)
		}
		cells[len(cells)-1] = f.st.Text(cells[len(cells)-1])
		fmt.Fprintln(f.streams.Out, strings.TrimRight(strings.Join(cells, "  "), " "))
	}
}

// End prints the document, if one was asked for.
func (f *JobFollower) End(j v1.Job) error {
	if f.format.IsText() {
		return nil
	}
	return Print(f.streams, f.format, &j)
}

// PrintWarning prints a remark that is no failure, on stderr.
func PrintWarning(s Streams, text string) {
	st := s.Err.Styles()
	fmt.Fprintln(s.Err, Paint(st.Yellow, "warning:")+" "+st.Text(text))
}
