package result

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal/style"
)

// Job is the record of one provisioning.
type Job struct{ v1.Job }

// Names are its ID.
func (j Job) Names() []string { return []string{j.ID} }

// Text is the job in full.
func (j Job) Text(p style.Page) ([]string, error) {
	return append(j.story(p), style.Paragraph(j.entries(p))...), nil
}

// story is what became of the job, and where its time went.
func (j Job) story(p style.Page) []string {
	state := style.Paint(j.colour(p), string(j.State))
	if j.Code != "" {
		state += " (" + p.Text(j.Code) + ")"
	}
	lines := p.Labels([][2]string{
		{"Job", style.Paint(p.Bold, p.Text(j.ID))},
		{"User string", p.Text(j.UserString)},
		{"Workspace", p.Text(j.WorkspaceName)},
		{"User", p.Text(j.Username)},
		{"Blueprint", p.Text(j.Blueprint)},
		{"Status", state},
		{"Stage", string(j.Stage)},
		{"Cause", p.Text(j.Cause)},
		{"Node", p.Text(j.Node)},
		{"Image", p.Text(j.Image)},
		{"Started", created(j.CreatedAt, p)},
		{"Took", style.Brief(j.took(p.Now))},
	})
	return append(lines, style.Paragraph(j.timeline(p))...)
}

// entries are all that is recorded.
func (j Job) entries(p style.Page) []string {
	cols := []style.Column{
		{Title: "TIME", DropOrder: 3},
		{Title: "OFFSET"},
		{Title: "TYPE"},
		{Title: "STATUS", Name: true, Least: 8},
		{Title: "OBJECT", Name: true, Least: 12, DropOrder: 1},
		{Title: "MESSAGE", Least: 20},
	}
	return table(cols, j.Events, p, j.cells)
}

func (j Job) cells(e v1.JobEvent) []string {
	return []string{
		e.Timestamp.UTC().Format("15:04:05.000"), "+" + style.Brief(e.Timestamp.Sub(j.CreatedAt)), string(e.Type),
		style.OrDash(e.Status), style.OrDash(e.ObjectName), e.Message,
	}
}

// NewLines are the entries that were not shown before, or have changed since, a
// line for each; shown has the messages by the IDs of the entries.
func (j Job) NewLines(p style.Page, shown map[string]string) (lines []string) {
	for _, e := range j.Events {
		if before, ok := shown[e.ID]; ok && before == e.Message {
			continue
		}
		shown[e.ID] = e.Message
		cells := j.cells(e)
		for i, width := range []int{0, 8, 8, 12, 0, 0} {
			cells[i] = style.Pad(p.Text(cells[i]), width)
		}
		lines = append(lines, strings.TrimRight(strings.Join(cells, "  "), " "))
	}
	return lines
}

// took is how long the job took, or has taken so far.
func (j Job) took(now time.Time) time.Duration {
	switch {
	case !j.FinishedAt.IsZero():
		return j.FinishedAt.Sub(j.CreatedAt)
	case j.State == v1.JobRunning:
		return now.Sub(j.CreatedAt)
	}
	return j.UpdatedAt.Sub(j.CreatedAt)
}

func (j Job) colour(p style.Page) lipgloss.Style {
	switch j.State {
	case v1.JobSucceeded:
		return p.Green
	case v1.JobFailed:
		return p.Red
	default:
		return p.Grey
	}
}

// Jobs is a list of jobs.
type Jobs struct {
	v1.JobList
	// Full is set to print each job instead of a table: its bars and, except at a terminal
	// that is not to be wide, all entries.
	Full bool `json:"-"`
	// Short are the forms of the IDs in the table, unless it is wide.
	Short map[string]string `json:"-"`
}

// Names are the IDs.
func (l Jobs) Names() []string {
	names := make([]string, len(l.Items))
	for i, j := range l.Items {
		names[i] = j.ID
	}
	return names
}

// Empty is the remark about an empty list.
func (l Jobs) Empty() string {
	if len(l.Items)+len(l.States) > 0 {
		return ""
	}
	return "no jobs"
}

// Text is a table, or all of each job.
func (l Jobs) Text(p style.Page) ([]string, error) {
	if l.Full {
		return l.stories(p), nil
	}
	cols := []style.Column{
		{Title: "JOB"},
		{Title: "USERSTRING", DropOrder: 2},
		{Title: "WORKSPACE", Name: true, Least: 12},
		{Title: "USER", Name: true, Least: 6, DropOrder: 3}, // most user strings have it
		{Title: "STATUS", Style: func(row int) lipgloss.Style { return Job{l.Items[row]}.colour(p) }},
		{Title: "AGE"},
		{Title: "DURATION", DropOrder: 1},
		{Title: "STAGE"},
	}
	if p.Wide {
		cols = append(cols, style.Column{Title: "CODE", DropOrder: 4}, style.Column{Title: "UPDATED", DropOrder: 5})
	}
	known := slices.ContainsFunc(l.Items, func(j v1.Job) bool { return j.UserString != "" })
	if !known {
		cols = slices.Delete(cols, 1, 2)
	}
	return table(cols, l.Items, p, func(j v1.Job) []string {
		id := j.ID
		if !p.Wide {
			id = cmp.Or(l.Short[id], id)
		}
		names := []string{id, style.OrDash(j.UserString), j.WorkspaceName}
		if !known {
			names = slices.Delete(names, 1, 2)
		}
		return append(names,
			style.OrDash(j.Username), string(j.State), style.Age(j.CreatedAt, p.Now),
			style.Brief(Job{j}.took(p.Now)), string(j.Stage), style.OrDash(j.Code), style.Age(j.UpdatedAt, p.Now))
	}), nil
}

// stories are the jobs one below the other, and how the states have changed.
func (l Jobs) stories(p style.Page) (lines []string) {
	leftOut := false
	for i, item := range l.Items {
		j := Job{item}
		text := j.story(p)
		if p.Room == 0 || p.Wide || len(j.Timeline) == 0 {
			text = append(text, style.Paragraph(j.entries(p))...)
		} else {
			leftOut = true
		}
		if i > 0 {
			text = style.Paragraph(text)
		}
		lines = append(lines, text...)
	}
	lines = append(lines, l.states(p, len(lines) > 0)...)
	if leftOut {
		const more = "--output wide also lists what Kubernetes reported on the way."
		lines = append(lines, style.Paragraph([]string{style.Paint(p.Grey, p.Cut(more, p.Room))})...)
	}
	return lines
}

// states is a table of how the states of the workspace have changed.
func (l Jobs) states(p style.Page, follows bool) []string {
	cols := []style.Column{
		{Title: "TIME"},
		{Title: "AGE", DropOrder: 1},
		{Title: "DESIRED"},
		{Title: "ACTUAL"},
		{Title: "WHY", Least: 12},
	}
	lines := table(cols, l.States, p, func(c v1.StateChange) []string {
		return []string{
			c.At.UTC().Format(time.DateTime), style.Age(c.At, p.Now), string(c.Desired), string(c.Actual),
			cmp.Or(c.Cause, c.Reason),
		}
	})
	if follows {
		return style.Paragraph(lines)
	}
	return lines
}
