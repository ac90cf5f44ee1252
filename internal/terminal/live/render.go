package live

import (
	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// view is everything that decides how a model looks at one moment.
type view struct {
	wording.Page
	height int
	frame  int // of the spinner
	// settled is how many items are written for good already, headed whether
	// the first line is.
	settled int
	headed  bool
}

// picture is what is to be on the screen: lines that will never change again,
// and below them those that may.
type picture struct {
	final   []string
	live    []string
	settled int // the items that stand in final lines, now and before
}

// The columns of a step's or stage's line; the message has what is left.
const (
	nameWidth   = 12
	tookWidth   = 6
	prefixWidth = 2 + 1 + 1 + nameWidth + 1
)

// render draws a model. It is pure: the same model, view and time give the same
// lines. No line is as wide as the terminal, so that none wraps.
func render(m *model, v view) picture {
	p := picture{settled: v.settled}
	if !v.headed {
		p.final = append(p.final, wording.Header(m.title, v.Page), "")
	}
	for ; p.settled < len(m.items) && m.items[p.settled].state != running; p.settled++ {
		p.final = append(p.final, itemLine(m.items[p.settled], v))
	}
	below := remarks(m, v)
	for i := p.settled; i < len(m.items); i++ {
		p.live = append(p.live, itemLine(m.items[i], v))
		if i == m.current(stageItem, "") {
			p.live = append(p.live, partLines(m, v, len(m.items)-p.settled+len(below))...)
		}
	}
	p.live = append(p.live, below...)
	p.final, p.live = style.Fit(p.final, v.Width), style.Fit(p.live, v.Width)
	if room := v.height - 1; v.height > 0 && len(p.live) > room {
		p.live = p.live[len(p.live)-max(room, 0):]
	}
	return p
}

// partLines are what the running stage is about: the replicas of a workload, or
// the containers of the one pod that there is. The other lines need room, too.
func partLines(m *model, v view, others int) []string {
	s := m.snapshot
	if len(s.Replicas) > 1 || len(s.Containers) == 0 {
		return replicaLines(s.Replicas, v, roomFor(v, others))
	}
	return containerLines(s.Containers, v)
}

// mostReplicas are shown however high the terminal is: what does not stand out
// among them is better counted.
const mostReplicas = 10

func roomFor(v view, others int) int {
	if v.height == 0 {
		return mostReplicas
	}
	return min(max(v.height-1-others, 1), mostReplicas)
}

func (m *model) blank() bool { return len(m.items) == 0 && m.progress == nil }

func (m *model) picture(v view) picture { return render(m, v) }

// ending is what is to stay. A command that was quick has drawn nothing, and
// leaves only its summary.
func (m *model) ending(v view) []string {
	var final []string
	if v.headed {
		if m.result == nil {
			m.abandon(v.Now)
		}
		final = render(m, v).final
	}
	if m.result != nil {
		final = append(final, summary(m, v)...)
	}
	return final
}

// remarks stand below what runs: a sign of life, what it waits for, warnings.
func remarks(m *model, v view) []string {
	var lines []string
	if m.progress != nil {
		lines = append(lines, progressLine(*m.progress, v))
	}
	if m.result != nil {
		return lines
	}
	shown, waiting := m.warnings.shown(), m.waitingFor()
	if waiting.Message != "" && !wording.Known(waiting.Message, m.snapshot.Message, shown) {
		lines = append(lines, "      "+v.Styles.Cut(v.Styles.Text(wording.CauseText(waiting)), v.Width-1-6))
	}
	for _, w := range shown {
		lines = append(lines, wording.WarningLine(w, v.Page, true))
	}
	return append(lines, hintLines(waiting.Hint, v)...)
}

// waitingFor is why the stage that runs goes on; empty if that is not known.
func (m *model) waitingFor() v1.Cause {
	if c := wording.Lasting(m.snapshot.Cause); c != nil && m.current(stageItem, "") >= 0 {
		return *c
	}
	return v1.Cause{}
}

// hintLines say what to do about what is waited for, while it is waited for. The
// whole of a long one comes with the result.
func hintLines(hint string, v view) []string {
	const most = 4
	inner := v.Page
	inner.Width -= 2
	lines := wording.Indent(v.Styles.Paragraphs(hint), inner)
	if len(lines) > most {
		lines = lines[:most]
		lines[most-1] = v.Styles.Cut(lines[most-1]+" "+v.Styles.Ellipsis, inner.Width-1)
	}
	for i, line := range lines {
		lines[i] = style.Paint(v.Styles.Grey, "  "+line)
	}
	return lines
}
