package result

import (
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal/style"
)

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
