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
func jobsLines(items []v1.Job, wide bool, s Streams, st styles) []string {
	now := s.Now()
	of := func(f func(v1.Job) string) []string {
		cells := make([]string, 0, len(items))
		for _, j := range items {
			cells = append(cells, st.text(f(j)))
		}
		return cells
	}
	cols := []column{
		{title: "JOB", cells: of(func(j v1.Job) string { return j.ID })},
		{title: "WORKSPACE", name: true, least: 12, cells: of(func(j v1.Job) string { return j.WorkspaceName })},
		{title: "USER", name: true, least: 6, spare: 2, cells: of(func(j v1.Job) string { return orDash(j.Username) })},
		{title: "STATUS", style: func(row int) lipgloss.Style { return st.job(items[row].State) }, cells: of(func(j v1.Job) string { return string(j.State) })},
		{title: "AGE", cells: of(func(j v1.Job) string { return age(j.CreatedAt, now) })},
		{title: "DURATION", spare: 1, cells: of(func(j v1.Job) string { return brief(jobTime(j, now)) })},
		{title: "STAGE", cells: of(func(j v1.Job) string { return string(j.Stage) })},
	}
	if wide {
		cols = append(cols,
			column{title: "CODE", spare: 3, cells: of(func(j v1.Job) string { return orDash(j.Code) })},
			column{title: "UPDATED", spare: 4, cells: of(func(j v1.Job) string { return age(j.UpdatedAt, now) })})
	}
	return table(cols, room(s.Out), st)
}

func room(out Output) int {
	if out.TTY {
		return out.Width() - 1
	}
	return 0
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

func (st styles) job(s v1.JobState) lipgloss.Style {
	switch s {
	case v1.JobSucceeded:
		return st.stage(v1.StageRunning)
	case v1.JobFailed:
		return st.stage(v1.StageFailed)
	default:
		return st.grey
	}
}

// jobLines is one job in full: `berth jobs JOB`.
func jobLines(j v1.Job, s Streams, st styles) []string {
	lines := jobHead(j, s, st)
	if len(j.Events) > 0 {
		lines = append(lines, "")
		lines = append(lines, entryTable(j, s, st)...)
	}
	return lines
}

func jobHead(j v1.Job, s Streams, st styles) []string {
	state := paint(st.job(j.State), string(j.State))
	if j.Code != "" {
		state += " (" + st.text(j.Code) + ")"
	}
	var lines []string
	for _, r := range [][2]string{
		{"Job", paint(st.bold, st.text(j.ID))},
		{"Workspace", st.text(j.WorkspaceName)},
		{"User", st.text(j.Username)},
		{"Status", state},
		{"Stage", string(j.Stage)},
		{"Begun", created(j.CreatedAt, s.Now())},
		{"Took", brief(jobTime(j, s.Now()))},
	} {
		if r[1] != "" {
			lines = append(lines, paint(st.grey, pad(r[0]+":", 14))+r[1])
		}
	}
	return lines
}

func entryTable(j v1.Job, s Streams, st styles) []string {
	cols := []column{
		{title: "TIME", spare: 3},
		{title: "OFFSET"},
		{title: "TYPE"},
		{title: "STATUS", name: true, least: 8},
		{title: "OBJECT", name: true, least: 12, spare: 1},
		{title: "MESSAGE", least: 20},
	}
	for _, e := range j.Events {
		for i, cell := range eventCells(j, e) {
			cols[i].cells = append(cols[i].cells, st.text(cell))
		}
	}
	return table(cols, room(s.Out), st)
}

func eventCells(j v1.Job, e v1.JobEvent) []string {
	return []string{
		e.Timestamp.UTC().Format("15:04:05.000"), "+" + brief(e.Timestamp.Sub(j.CreatedAt)), string(e.Type),
		orDash(e.Status), orDash(e.ObjectName), e.Message,
	}
}

// PrintHistory prints jobs with everything in them, one after the other.
func PrintHistory(s Streams, f Format, list *v1.JobList) error {
	if !f.IsText() {
		return Print(s, f, list)
	}
	st := newStyles(s.Out.Capabilities)
	var lines []string
	for i, j := range list.Items {
		if i > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, jobLines(j, s, st)...)
	}
	_, err := io.WriteString(s.Out, joinLines(lines))
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
	st      styles
	shown   map[string]string // messages by the IDs of entries
}

// FollowJob makes the printer of one job.
func FollowJob(s Streams, f Format) *JobFollower {
	return &JobFollower{streams: s, format: f, st: newStyles(s.Out.Capabilities), shown: map[string]string{}}
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
			cells[i] = pad(f.st.text(cells[i]), width)
		}
		cells[len(cells)-1] = f.st.text(cells[len(cells)-1])
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
	st := newStyles(s.Err.Capabilities)
	fmt.Fprintln(s.Err, paint(st.yellow, "warning:")+" "+st.text(text))
}
