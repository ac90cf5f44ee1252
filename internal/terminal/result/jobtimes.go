package result

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/english"
	"github.com/berthdev/berth/internal/registry/image"
	"github.com/berthdev/berth/internal/terminal/style"
)

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
	return table(cols, groups, p, func(g v1.JobGroup) []string {
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
	fill(cols, rows, p, func(d duration) []string {
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

// The widths of a timeline: from how many columns on messages are shown beside its bars, and
// how wide those are then.
const (
	roomForMessages = 110
	barsAndMessages = 48
)

// timeline is where the time of the job went: at a terminal as bars on one axis.
func (j Job) timeline(p style.Page) []string {
	spans := j.Timeline
	colour := func(row int) lipgloss.Style { return spanColour(spans[row], p) }
	cols := []style.Column{
		{Title: "STEP OR STAGE", Name: true, Least: 12, Style: colour},
		{Title: "BEGAN", DropOrder: 2},
		{Title: "TOOK"},
		{Title: "MESSAGE", Least: 12, DropOrder: 1},
	}
	if len(spans) == 0 {
		return nil
	}
	begin := j.begin()
	fill(cols, spans, p, func(s v1.JobSpan) []string {
		took := "-"
		if s.State != v1.StepBegun && s.Type != v1.JobSpanWarning {
			took = style.Brief(style.Seconds(s.Seconds))
		}
		return []string{spanName(s, p), "+" + style.Brief(s.BeganAt.Sub(begin)), took, s.Message}
	})
	if p.Room > 0 {
		cols = j.withBars(cols, begin, colour, p)
	}
	return style.Table(cols, p.Table().Room, p.Styles)
}

// begin is when the first of it began.
func (j Job) begin() time.Time {
	begin := j.CreatedAt
	if len(j.Timeline) > 0 && (begin.IsZero() || j.Timeline[0].BeganAt.Before(begin)) {
		begin = j.Timeline[0].BeganAt
	}
	return begin
}

// withBars are the columns with bars, for which messages may have to give way.
func (j Job) withBars(cols []style.Column, begin time.Time, colour func(int) lipgloss.Style,
	p style.Page,
) []style.Column {
	messages := cols[3]
	cols = cols[:3]
	columns := style.Spare(cols, p.Room)
	if p.Room >= roomForMessages || p.Wide {
		columns = min(columns, barsAndMessages)
	}
	if columns < style.LeastBars {
		if p.Wide {
			cols = append(cols, messages)
		}
		return cols
	}
	axis := style.Axis{Time: j.CreatedAt.Add(j.took(p.Now)).Sub(begin), Columns: columns}
	for _, s := range j.Timeline {
		axis.Time = max(axis.Time, s.BeganAt.Add(style.Seconds(s.Seconds)).Sub(begin))
	}
	bars := style.Column{Title: axis.Scale(), Style: colour}
	for _, s := range j.Timeline {
		bars.Cells = append(bars.Cells, spanBar(s, axis, s.BeganAt.Sub(begin), p))
	}
	if cols = append(cols, bars); p.Room >= roomForMessages || p.Wide {
		cols = append(cols, messages)
	}
	return cols
}

// spanBar is a bar, heavy for what a stage took; a warning is a sign where it came.
func spanBar(s v1.JobSpan, axis style.Axis, at time.Duration, p style.Page) string {
	end := at + style.Seconds(s.Seconds)
	switch {
	case s.Type == v1.JobSpanWarning:
		return axis.Bar(at, at, p.Warning)
	case s.State == v1.StepBegun:
		return axis.Bar(at, axis.Time, p.Dotted)
	case s.Type == v1.JobSpanStage:
		return axis.Bar(at, end, p.Heavy)
	}
	return axis.Bar(at, end, p.Light)
}

// spanName moves what goes on within a stage to the right.
func spanName(s v1.JobSpan, p style.Page) string {
	switch s.Type {
	case v1.JobSpanWarning:
		return "  " + p.Warning + " " + s.Name
	case v1.JobSpanContainer, v1.JobSpanScript:
		return "  " + s.Name
	case v1.JobSpanStep:
		return strings.ToLower(s.Name)
	}
	return s.Name
}

func spanColour(s v1.JobSpan, p style.Page) lipgloss.Style {
	switch {
	case s.Type == v1.JobSpanWarning, s.Type == v1.JobSpanScript && s.State == v1.StepFailed:
		return p.Yellow
	case s.State == v1.StepFailed:
		return p.Red
	case s.Type == v1.JobSpanStage && s.State == v1.StepEnded:
		return p.Green
	}
	return p.Grey
}
