package live

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	"github.com/berthdev/berth/internal/english"
	"github.com/berthdev/berth/internal/terminal/result"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// phase is how far one of several workspaces is.
type phase int

// The phases, in the order in which they need a look.
const (
	working phase = iota
	queued
	broken
	ready
)

func (m *model) phase() phase {
	err, failed := m.ending.(result.Error)
	switch {
	case failed && !err.Runs():
		return broken
	case m.ending != nil:
		return ready
	case m.begun.IsZero():
		return queued
	default:
		return working
	}
}

// table is the picture of several workspaces: a row for each, and a line that
// counts them. Rows stay where they are, as long as all of them fit.
func (b *batchModel) table(v view) picture {
	var p picture
	if !v.headed {
		p.final = append(p.final, b.header(v), "")
	}
	below := append([]string{""}, b.counted(v)...)
	shown, rest := b.members, []*model(nil)
	if room := max(v.height-1-len(below), 1); v.height > 0 && len(shown) > room {
		shown, rest = fold(shown, room)
	}
	p.live = b.rows(shown, v)
	if len(rest) > 0 {
		text := fmt.Sprintf("%s %d more: %s", v.Ellipsis, len(rest), counts(rest))
		p.live = append(p.live, "    "+style.Paint(v.Grey, v.Text(text)))
	}
	p.live = append(p.live, below...)
	return p
}

// counted are how many are how far, and how many will not get any farther by themselves.
func (b *batchModel) counted(v view) []string {
	elapsed := ""
	if v.Now.Sub(b.begun) >= time.Second {
		elapsed = "   " + style.Whole(v.Now.Sub(b.begun))
	}
	lines := []string{"  " + counts(b.members) + style.Paint(v.Grey, elapsed)}
	stuck := 0
	for _, m := range b.members {
		if m.phase() == working && wording.IsStuck(m.snapshot) {
			stuck++
		}
	}
	if stuck > 0 {
		text := fmt.Sprintf("%d stuck: someone has to act; Ctrl-C leaves them working", stuck)
		lines = append(lines, "  "+style.Paint(v.Yellow, v.Cut(text, v.Width-1-2)))
	}
	return lines
}

// finalTable is the whole table and how it ended.
func (b *batchModel) finalTable(v view) []string {
	if b.blank() && b.result == nil {
		return nil
	}
	var lines []string
	if !v.headed {
		lines = append(lines, b.header(v), "")
	}
	if b.result == nil {
		for _, m := range b.members {
			m.abandon(v.Now)
		}
		v.Spinner = []string{v.Stopped} // nothing turns any more
	}
	lines = style.Fit(append(lines, b.rows(b.members, v)...), v.Width)
	if b.result == nil {
		return lines
	}
	return append(lines, style.Paragraph(b.summary(v))...)
}

func (b *batchModel) header(v view) string {
	text := style.Paint(v.Bold, english.Plural(len(b.members), "workspace"))
	if b.Namespace != "" {
		text += style.Paint(v.Grey, " in "+v.Text(b.Namespace))
	}
	if b.Parallel < len(b.members) {
		text += style.Paint(v.Grey, fmt.Sprintf(", %d at a time", b.Parallel))
	}
	return text
}

// fold chooses the rows that are shown if not all fit: the unfinished first. One
// line is left for the count of the others.
func fold(members []*model, room int) (shown, rest []*model) {
	sorted := slices.Clone(members)
	slices.SortStableFunc(sorted, func(a, b *model) int { return int(a.phase() - b.phase()) })
	return sorted[:room-1], sorted[room-1:]
}

// counts says how many are how far.
func counts(members []*model) string {
	var n [ready + 1]int
	for _, m := range members {
		n[m.phase()]++
	}
	var texts []string
	for _, part := range []struct {
		of   phase
		word string
	}{{ready, "done"}, {broken, "failed"}, {working, "active"}, {queued, "queued"}} {
		if n[part.of] > 0 {
			texts = append(texts, fmt.Sprintf("%d %s", n[part.of], part.word))
		}
	}
	return strings.Join(texts, ", ")
}

// rows lays rows out; the columns are those of all members, so that they keep
// their places whichever are shown.
func (b *batchModel) rows(members []*model, v view) []string {
	widest := 0
	for _, m := range b.members {
		widest = max(widest, style.Width(v.Text(m.title.Target())))
	}
	widest = min(widest, max(v.Width*3/10, 8))
	lines := make([]string, 0, len(members))
	for _, m := range members {
		lines = append(lines, m.row(widest, v))
	}
	return lines
}

// row is one workspace: who, how far, why, how long.
func (m *model) row(widest int, v view) string {
	name := style.Pad(v.CutMiddle(v.Text(m.title.Target()), widest), widest)
	took, r := "", m.state(v)
	switch {
	case m.ending != nil:
		took = style.Brief(m.outcome(v).Took)
	case !m.begun.IsZero() && v.Now.Sub(m.begun) >= time.Second:
		took = style.Whole(v.Now.Sub(m.begun))
	}
	head := "  " + r.Sign + " " + name + "  " +
		style.Paint(r.Colour, style.Pad(v.Cut(v.Text(r.Word), nameWidth), nameWidth)) + " "
	room := max(v.Width-1-style.Width(head)-2-tookWidth, 0)
	why := style.Pad(v.Cut(v.Text(r.Why), room), room)
	return strings.TrimRight(head+why+"  "+style.Paint(v.Grey, took), " ")
}

// state is how far a workspace is, and what explains it; the sign has its colour.
func (m *model) state(v view) result.Row {
	switch m.phase() {
	case queued:
		return result.Row{Sign: " ", Word: "queued", Colour: v.Grey}
	case broken, ready:
		r := m.outcome(v).Row(v.Page)
		if r.Sign = style.Paint(r.Colour, r.Sign); !isError(m.ending) {
			r.Sign = sign(done, v)
		}
		return r
	}
	r := result.Row{Sign: sign(running, v)}
	r.Word, r.Colour, r.Why = m.work(v)
	return r
}

// outcome is how it ended.
func (m *model) outcome(v view) result.Outcome {
	return m.ending.Outcome(v.Page, m.title, m.ended.Sub(m.begun))
}

func isError(e result.Ending) bool {
	_, failed := e.(result.Error)
	return failed
}

// work is the stage, or else the step, that runs.
func (m *model) work(v view) (stage string, colour lipgloss.Style, why string) {
	if i := m.current(stageItem, ""); i >= 0 {
		return m.items[i].name, v.Stage(m.snapshot.Stage), m.reason(v)
	}
	if i := m.current(stepItem, ""); i >= 0 {
		return m.items[i].name, v.Grey, m.reason(v)
	}
	for _, it := range slices.Backward(m.items) {
		if it.kind != warningItem {
			return it.name, v.Grey, it.message
		}
	}
	return "", v.Grey, m.reason(v)
}

// reason is what a running stage waits for, in one line: a known cause says more
// than a warning, and that more than the stage's own words.
func (m *model) reason(v view) string {
	if c := wording.Lasting(m.snapshot.Cause); c != nil && c.Message != "" {
		return wording.CauseInShort(*c)
	}
	if warnings := m.warnings.current(); len(warnings) > 0 {
		w := warnings[len(warnings)-1]
		name := w.Reason
		if w.Count > 1 {
			name += fmt.Sprintf(" %s%d", v.Times, w.Count)
		}
		return name + ": " + wording.WarningText(w)
	}
	if m.progress != nil {
		return m.progress.Message
	}
	if rs := m.snapshot.Replicas; len(rs) > 1 {
		return stageCounts(rs)
	}
	if i := m.current(scriptItem, ""); i >= 0 {
		return m.items[i].name + ": " + m.items[i].message
	}
	return m.snapshot.Message
}
