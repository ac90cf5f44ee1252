package live

import (
	"fmt"
	"strings"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// The columns of a step's or stage's line; the message has what is left.
const (
	nameWidth   = 12
	tookWidth   = 6
	prefixWidth = 2 + 1 + 1 + nameWidth + 1
)

// story is the picture of one workspace: a line for each step and stage, and below
// the one that runs what it is about.
func (m *model) story(v view) picture {
	p := picture{written: v.written}
	if !v.headed {
		p.final = append(p.final, m.title.Header(v.Page), "")
	}
	for ; p.written < len(m.items) && m.items[p.written].state != running; p.written++ {
		p.final = append(p.final, itemLines(m.items[p.written], v)...)
	}
	below := m.remarks(v)
	for i := p.written; i < len(m.items); i++ {
		p.live = append(p.live, itemLines(m.items[i], v)...)
		if i == m.current(stageItem, "") {
			p.live = append(p.live, m.partLines(v, len(m.items)-p.written+len(below))...)
		}
	}
	p.live = append(p.live, below...)
	return p
}

// finalStory is what is left of it. A command that was quick has drawn nothing, and
// leaves only its summary.
func (b *batchModel) finalStory(v view) []string {
	m := b.members[0]
	var lines []string
	if v.headed {
		if b.result == nil {
			m.abandon(v.Now)
		}
		lines = style.Fit(m.story(v).final, v.Width)
	}
	if b.result == nil {
		return lines
	}
	summary := b.summary(v)
	if len(m.items) > 0 && v.headed && !strings.HasPrefix(summary[0], "  ") {
		summary = style.Paragraph(summary) // no headline: it does not belong to the lines above
	}
	return append(lines, summary...)
}

// itemLines are an item, and below a script that has failed what it has said last.
func itemLines(it item, v view) []string {
	lines := []string{itemLine(it, v)}
	if it.kind == scriptItem && it.state == warned {
		lines = append(lines, wording.OutputLines(it.script.Lines, v.Page)...)
	}
	return lines
}

// itemLine is the line of one step, stage, script or past warning.
func itemLine(it item, v view) string {
	if it.kind == warningItem {
		return wording.WarningLine(it.warning, v.Page, false)
	}
	name := style.Pad(v.CutMiddle(v.Text(it.name), nameWidth), nameWidth)
	took := ""
	switch {
	case it.script.State == v1.ScriptSkipped:
	case it.state != running:
		took = style.Brief(it.took)
	case v.Now.Sub(it.begun) >= 1e9:
		took = style.Whole(v.Now.Sub(it.begun))
	}
	room := max(v.Width-1-prefixWidth-2-tookWidth, 0)
	message := style.Pad(v.Cut(v.Text(it.message), room), room)
	line := "  " + sign(it.state, v) + " " + name + " " + message + "  " + style.Paint(v.Grey, took)
	return strings.TrimRight(line, " ")
}

func sign(s itemState, v view) string {
	switch s {
	case done:
		return style.Paint(v.Green, v.Done)
	case failed:
		return style.Paint(v.Red, v.Failed)
	case stopped:
		return style.Paint(v.Grey, v.Stopped)
	case warned:
		return style.Paint(v.Yellow, v.Warning)
	default:
		return v.Spinner[v.frame%len(v.Spinner)]
	}
}

// remarks are below what runs: a sign of life, what it waits for, warnings.
func (m *model) remarks(v view) []string {
	var lines []string
	if m.progress != nil {
		lines = append(lines, progressLine(*m.progress, v))
	}
	if m.ending != nil {
		return lines
	}
	warnings, waiting := m.warnings.current(), m.waitingFor()
	if waiting.Message != "" && !wording.Known(waiting.Message, m.snapshot.Message, warnings) {
		lines = append(lines, "      "+v.Cut(v.Text(wording.CauseText(waiting)), v.Width-1-6))
	}
	lines = append(lines, wording.WarningLines(warnings, v.Page)...)
	lines = append(lines, hintLines(waiting.Hint, v)...)
	return append(lines, m.stuckLines(v)...)
}

// stuckLines say that it will not go on by itself, and how to leave it.
func (m *model) stuckLines(v view) []string {
	if !wording.IsStuck(m.snapshot) {
		return nil
	}
	lines := []string{style.Paint(v.Yellow, "      "+v.Cut("Stuck: "+wording.StuckText+".", v.Width-1-6))}
	inner := v.Page
	inner.Width -= 2
	for _, line := range inner.Indent(v.Text(m.title.WaysOut()[0]), v.Text(m.title.WaysOut()[1])) {
		lines = append(lines, style.Paint(v.Grey, "  "+line))
	}
	return lines
}

// waitingFor is why the running stage takes long; empty if that is not known.
func (m *model) waitingFor() v1.Cause {
	if c := wording.Lasting(m.snapshot.Cause); c != nil && m.current(stageItem, "") >= 0 {
		return *c
	}
	return v1.Cause{}
}

func progressLine(p v1.Progress, v view) string {
	count := ""
	switch {
	case p.Total > 0:
		count = fmt.Sprintf("  %d/%d", p.Done, p.Total)
	case p.Done > 0:
		count = fmt.Sprintf("  %d", p.Done)
	}
	text := v.Cut(v.Text(p.Message), max(v.Width-1-6-style.Width(count), 0))
	return "      " + text + style.Paint(v.Grey, count)
}

// hintLines say what to do about what is waited for. The whole of a long hint
// comes with the result.
func hintLines(hint string, v view) []string {
	const most = 4
	inner := v.Page
	inner.Width -= 2
	lines := inner.Indent(v.Paragraphs(hint)...)
	if len(lines) > most {
		lines = lines[:most]
		lines[most-1] = v.Cut(lines[most-1]+" "+v.Ellipsis, inner.Width-1)
	}
	for i, line := range lines {
		lines[i] = style.Paint(v.Grey, "  "+line)
	}
	return lines
}
