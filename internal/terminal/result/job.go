package result

import (
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
	return style.Rows(cols, j.Events, p, j.cells)
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
	style.AddRows(cols, spans, p, func(s v1.JobSpan) []string {
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
