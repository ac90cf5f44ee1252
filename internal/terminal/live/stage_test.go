package live

import (
	"slices"
	"time"

	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/terminaltest"
	"github.com/berthdev/berth/internal/terminal/wording"
)

const (
	ms = time.Millisecond
	sc = time.Second
)

// modelOf is what a model knows after a while.
func modelOf(s *terminaltest.Script, after time.Duration) *model {
	m := &model{title: terminaltest.Alice}
	for _, e := range s.Events {
		if !e.At.After(terminaltest.T0.Add(after)) {
			m.handle(e)
		}
	}
	return m
}

func crowdOf(b *terminaltest.Many, after time.Duration) *crowd {
	c := newCrowd(b.Batch)
	for _, e := range b.Events {
		if !e.At.After(terminaltest.T0.Add(after)) {
			c.handle(e)
		}
	}
	return c
}

// screenful is the whole table as it stands at a moment.
func screenful(b *terminaltest.Many, at time.Duration, width, height int, look terminal.Capabilities) []string {
	c := crowdOf(b, at)
	v := view{Page: wording.Page{Width: width, Now: terminaltest.T0.Add(at), Styles: look.Styles()}, height: height, frame: 2}
	if c.result != nil {
		return c.ending(v)
	}
	p := c.picture(v)
	return slices.Concat(p.final, p.live)
}

// screen is the whole story as it stands at a moment, nothing scrolled away.
func screen(s *terminaltest.Script, at time.Duration, width int, look terminal.Capabilities) []string {
	m := modelOf(s, at)
	v := view{Page: wording.Page{Width: width, Now: terminaltest.T0.Add(at), Styles: look.Styles()}, height: 50, frame: 2}
	p := render(m, v)
	lines := slices.Concat(p.final, p.live)
	if m.result != nil {
		v.headed = true
		lines = append(lines, summary(m, v)...)
	}
	return lines
}

// stage sets up a live view in a bubble of time that begins at t0.
func newStage(width, height int, caps terminal.Capabilities) (*terminaltest.Frames, *Live) {
	f, out, now := stage(width, height, caps)
	return f, New(out, terminaltest.Alice, now)
}

// newBatchStage sets up a live view of several in a bubble of time.
func newBatchStage(b wording.Batch, width, height int, caps terminal.Capabilities) (*terminaltest.Frames, *Live) {
	f, out, now := stage(width, height, caps)
	return f, OfMany(out, b, now)
}

// stage is an output that shows what is drawn, and a clock that begins at t0.
func stage(width, height int, caps terminal.Capabilities) (*terminaltest.Frames, terminal.Output, func() time.Time) {
	start := time.Now()
	f := &terminaltest.Frames{VT: terminaltest.NewVT(width, height)}
	return f, terminal.Output{Writer: f, Capabilities: caps, Size: f.Size}, func() time.Time { return terminaltest.T0.Add(time.Since(start)) }
}
