package live

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// picture is a table with a row for each workspace, and a line that counts
// them. Who is done keeps the row, so that nothing jumps, as long as all rows
// fit.
func (c *crowd) picture(v view) picture {
	var p picture
	if !v.headed {
		p.final = append(p.final, c.header(v), "")
	}
	const below = 2 // the counts, and a blank line above them
	shown, rest := c.rows, []*model(nil)
	if room := max(v.height-1-below, 1); v.height > 0 && len(c.rows) > room {
		shown, rest = foldRows(c.rows, room)
	}
	p.live = c.table(shown, v)
	if len(rest) > 0 {
		text := fmt.Sprintf("%s %d more: %s", v.Styles.Ellipsis, len(rest), strings.Join(countTexts(rest), ", "))
		p.live = append(p.live, "    "+style.Paint(v.Styles.Grey, v.Styles.Text(text)))
	}
	elapsed := ""
	if v.Now.Sub(c.begun) >= time.Second {
		elapsed = "   " + style.Whole(v.Now.Sub(c.begun))
	}
	p.live = append(p.live, "", "  "+strings.Join(countTexts(c.rows), ", ")+style.Paint(v.Styles.Grey, elapsed))
	p.final, p.live = style.Fit(p.final, v.Width), style.Fit(p.live, v.Width)
	if room := v.height - 1; v.height > 0 && len(p.live) > room {
		p.live = p.live[len(p.live)-max(room, 0):]
	}
	return p
}

func (c *crowd) header(v view) string {
	text := style.Paint(v.Styles.Bold, style.Plural(len(c.rows), "workspace"))
	if c.batch.Namespace != "" {
		text += style.Paint(v.Styles.Grey, " in "+v.Styles.Text(c.batch.Namespace))
	}
	if c.batch.Parallel < len(c.rows) {
		text += style.Paint(v.Styles.Grey, fmt.Sprintf(", %d at a time", c.batch.Parallel))
	}
	return text
}

// foldRows chooses the rows that are shown where not all fit: the unfinished
// first. One line stays for the count of the others.
func foldRows(rows []*model, room int) (shown, rest []*model) {
	sorted := slices.Clone(rows)
	slices.SortStableFunc(sorted, func(a, b *model) int { return int(standingOf(a) - standingOf(b)) })
	return sorted[:room-1], sorted[room-1:]
}

// countTexts tells how many are how far.
func countTexts(rows []*model) (texts []string) {
	n := count(rows)
	for _, part := range []struct {
		of   standing
		word string
	}{{ready, "done"}, {lost, "failed"}, {atWork, "at work"}, {queued, "waiting"}} {
		if n[part.of] > 0 {
			texts = append(texts, fmt.Sprintf("%d %s", n[part.of], part.word))
		}
	}
	return texts
}

// table lays the rows out; the columns are those of all rows, so that they keep
// their places whoever is shown.
func (c *crowd) table(rows []*model, v view) []string {
	widest := 0
	for _, m := range c.rows {
		widest = max(widest, style.Width(v.Styles.Text(m.title.Target())))
	}
	widest = min(widest, max(v.Width*3/10, 8))
	lines := make([]string, 0, len(rows))
	for _, m := range rows {
		lines = append(lines, rowLine(m, widest, v))
	}
	return lines
}

// rowLine is one workspace: who, how far, why, since when.
func rowLine(m *model, widest int, v view) string {
	name := style.Pad(v.Styles.CutMiddle(v.Styles.Text(m.title.Target()), widest), widest)
	stage, colour, why := rowState(m, v)
	took := ""
	switch {
	case m.result != nil:
		took = style.Brief(m.took())
	case !m.begun.IsZero() && v.Now.Sub(m.begun) >= time.Second:
		took = style.Whole(v.Now.Sub(m.begun))
	}
	head := "  " + rowSign(m, v) + " " + name + "  " + style.Paint(colour, style.Pad(v.Styles.Cut(v.Styles.Text(stage), nameWidth), nameWidth)) + " "
	room := max(v.Width-1-style.Width(head)-2-tookWidth, 0)
	why = style.Pad(v.Styles.Cut(v.Styles.Text(why), room), room)
	return strings.TrimRight(head+why+"  "+style.Paint(v.Styles.Grey, took), " ")
}

func rowSign(m *model, v view) string {
	switch standingOf(m) {
	case atWork:
		return sign(running, v)
	case queued:
		return " "
	case ready:
		return sign(done, v)
	default:
		_, colour, mark := endWord(*m.result.Error, v.Styles)
		return style.Paint(colour, mark)
	}
}

// rowState is how far a workspace is, and what explains it.
func rowState(m *model, v view) (stage string, colour lipgloss.Style, why string) {
	switch standingOf(m) {
	case queued:
		return "waiting", v.Styles.Grey, ""
	case lost:
		word, colour, _ := endWord(*m.result.Error, v.Styles)
		return word, colour, firstLine(wording.Gist(*m.result.Error))
	case ready:
		w := m.result.Workspace
		switch {
		case m.result.Deletion != nil:
			return "Deleted", v.Styles.Green, wording.DeletionText(*m.result.Deletion)
		case w == nil:
			return "done", v.Styles.Green, ""
		}
		if w.Stage == v1.StageRunning && w.Timing == nil {
			why = strings.TrimSpace(wording.Since(*w, v.Now))
		} else if w.Stage != v1.StageRunning {
			why = wording.CauseOrMessage(w.Snapshot)
		}
		return string(w.Stage), v.Styles.Stage(w.Stage), why
	}
	return workState(m, v)
}

// workState is the stage, or else the step, that runs.
func workState(m *model, v view) (stage string, colour lipgloss.Style, why string) {
	if i := m.current(stageItem, ""); i >= 0 {
		return m.items[i].name, v.Styles.Stage(m.snapshot.Stage), m.reason(v)
	}
	if i := m.current(stepItem, ""); i >= 0 {
		return m.items[i].name, v.Styles.Grey, m.reason(v)
	}
	for _, it := range slices.Backward(m.items) {
		if it.kind != warningItem {
			return it.name, v.Styles.Grey, it.message
		}
	}
	return "", v.Styles.Grey, m.reason(v)
}

// reason is what a running stage waits for, in one line: a known cause says
// more than a warning, and that more than the stage's own words.
func (m *model) reason(v view) string {
	if c := wording.Lasting(m.snapshot.Cause); c != nil && c.Message != "" {
		return wording.CauseText(*c)
	}
	if shown := m.warnings.shown(); len(shown) > 0 {
		w := shown[len(shown)-1]
		name := w.Reason
		if w.Count > 1 {
			name += fmt.Sprintf(" %s%d", v.Styles.Times, w.Count)
		}
		return name + ": " + wording.WarningText(w)
	}
	if m.progress != nil {
		return m.progress.Message
	}
	if rs := m.snapshot.Replicas; len(rs) > 1 {
		return stageCounts(rs)
	}
	return m.snapshot.Message
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
