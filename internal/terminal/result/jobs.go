package result

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/english"
	"github.com/berthdev/berth/internal/registry/image"
	"github.com/berthdev/berth/internal/terminal/style"
)

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
	return style.Rows(cols, l.Items, p, func(j v1.Job) []string {
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
	lines := style.Rows(cols, l.States, p, func(c v1.StateChange) []string {
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

// JobStats is where the time of provisionings went.
type JobStats struct{ v1.JobStats }

// Empty is the remark where there is nothing to count.
func (s JobStats) Empty() string {
	if s.Total.Jobs > 0 {
		return ""
	}
	return "no jobs"
}

// Text is two tables: what became of the jobs, and how long each stage took.
func (s JobStats) Text(p style.Page) ([]string, error) {
	groups := s.Groups
	if s.By == "" {
		groups = []v1.JobGroup{s.Total}
	}
	return append(s.outcomes(groups, p), style.Paragraph(s.durations(groups, p))...), nil
}

// name is the column of what the jobs are grouped by; none if they are not.
func (s JobStats) name() []style.Column {
	if s.By == "" {
		return nil
	}
	return []style.Column{{Title: strings.ToUpper(string(s.By)), Name: true, Least: 10}}
}

// named are cells behind the name of a group.
func (s JobStats) named(g v1.JobGroup, p style.Page, cells ...string) []string {
	switch name := g.Name; {
	case s.By == "":
		return cells
	case s.By == v1.JobsByImage && !p.Wide && name != "":
		return append([]string{image.Parse(name).Short()}, cells...)
	default:
		return append([]string{style.OrDash(name)}, cells...)
	}
}

func (s JobStats) outcomes(groups []v1.JobGroup, p style.Page) []string {
	failed := func(row int) lipgloss.Style {
		if groups[row].Failed > 0 {
			return p.Red
		}
		return lipgloss.Style{}
	}
	cols := append(s.name(), style.Column{Title: "JOBS"}, style.Column{Title: "SUCCEEDED"},
		style.Column{Title: "FAILED", Style: failed},
		style.Column{Title: "OTHER", DropOrder: 1}, style.Column{Title: "FAILED OF", Least: 12})
	return style.Rows(cols, groups, p, func(g v1.JobGroup) []string {
		return s.named(g, p, strconv.Itoa(g.Jobs), strconv.Itoa(g.Succeeded), strconv.Itoa(g.Failed), others(g),
			causes(g))
	})
}

// others are the jobs that neither succeeded nor failed.
func others(g v1.JobGroup) string {
	var texts []string
	for _, state := range []struct {
		jobs int
		name v1.JobState
	}{{g.Created, v1.JobCreated}, {g.Interrupted, v1.JobInterrupted}, {g.Running, v1.JobRunning}} {
		if state.jobs > 0 {
			texts = append(texts, fmt.Sprintf("%d %s", state.jobs, state.name))
		}
	}
	return style.OrDash(strings.Join(texts, ", "))
}

func causes(g v1.JobGroup) string {
	texts := make([]string, len(g.Causes))
	for i, c := range g.Causes {
		texts[i] = fmt.Sprintf("%s (%d)", c.Code, c.Jobs)
	}
	return style.OrDash(strings.Join(texts, ", "))
}

// duration is a row of the second table.
type duration struct {
	group v1.JobGroup
	what  string
	v1.Percentiles
}

// untilRunning is the row below those of the stages.
const untilRunning = "until Running"

// durations are how long each stage took: at a terminal with bars, all on one axis.
func (s JobStats) durations(groups []v1.JobGroup, p style.Page) []string {
	var rows []duration
	for _, g := range groups {
		for _, stage := range g.Stages {
			rows = append(rows, duration{g, string(stage.Stage), stage.Percentiles})
		}
		if g.UntilRunning != nil {
			rows = append(rows, duration{g, untilRunning, *g.UntilRunning})
		}
	}
	if len(rows) == 0 {
		return nil
	}
	colour := func(row int) lipgloss.Style {
		if rows[row].what == untilRunning {
			return p.Bold
		}
		return lipgloss.Style{}
	}
	cols := append(s.name(), style.Column{Title: "STAGE", Style: colour}, style.Column{Title: "JOBS", DropOrder: 1},
		style.Column{Title: "MEDIAN"}, style.Column{Title: "P90"}, style.Column{Title: "MAX"})
	style.AddRows(cols, rows, p, func(d duration) []string {
		return s.named(d.group, p, d.what, strconv.Itoa(d.Jobs), brief(d.Median), brief(d.P90), brief(d.Max))
	})
	var legend []string
	if columns := style.Spare(cols, p.Room); p.Room > 0 && columns >= style.LeastBars {
		cols = append(cols, percentileBars(rows, columns, colour, p))
		legend = style.Paragraph([]string{style.Paint(p.Grey,
			p.Heavy+" median   "+p.Light+" 90%   "+p.Dotted+" longest")})
	}
	return append(style.Table(cols, p.Table().Room, p.Styles), legend...)
}

func brief(seconds float64) string { return style.Brief(style.Seconds(seconds)) }

// percentileBars are bars to the median, on to what nine of ten do not exceed, and to the
// longest.
func percentileBars(rows []duration, columns int, colour func(int) lipgloss.Style, p style.Page) style.Column {
	axis := style.Axis{Columns: columns}
	for _, d := range rows {
		axis.Time = max(axis.Time, style.Seconds(d.Max))
	}
	bars := style.Column{Title: axis.Scale(), Style: colour}
	for _, d := range rows {
		bar := axis.Bar(0, style.Seconds(d.Median), p.Heavy)
		bar = axis.Beside(bar, style.Seconds(d.P90), p.Light)
		bars.Cells = append(bars.Cells, axis.Beside(bar, style.Seconds(d.Max), p.Dotted))
	}
	return bars
}

// Reach says how far back the records reach, how long they are kept if that is known, and
// what they do not say.
func (s JobStats) Reach(p style.Page, kept string) string {
	jobs := english.Plural(s.Total.Jobs, "job")
	if !s.Since.IsZero() {
		jobs += " of the last " + style.Age(s.Since, p.Now)
	}
	reach := "the oldest record is " + style.Age(s.OldestAt, p.Now) + " old"
	if kept != "" {
		reach += ", records are kept for " + kept
	}
	parts := []string{jobs, reach}
	for _, g := range s.Groups {
		if g.Name == "" {
			parts = append(parts, fmt.Sprintf("%d do not say the %s (-)", g.Jobs, s.By))
		}
	}
	return strings.Join(parts, "; ")
}
