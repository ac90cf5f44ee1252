package live

import (
	"slices"
	"time"

	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/terminaltest"
	"github.com/berthdev/berth/internal/terminal/wording"
)

const (
	ms = time.Millisecond
	sc = time.Second
)

// modelOf is what is known about one workspace after a while.
func modelOf(s *terminaltest.Script, after time.Duration) *model {
	return singleOf(s, after).members[0]
}

func singleOf(s *terminaltest.Script, after time.Duration) *batchModel {
	return batchOf(&terminaltest.Many{Batch: terminaltest.Single(terminaltest.Alice), Events: s.Events}, after)
}

func batchOf(b *terminaltest.Many, after time.Duration) *batchModel {
	m := newBatchModel(b.Batch)
	for _, e := range b.Events {
		if !e.At.After(terminaltest.T0.Add(after)) {
			m.handle(e)
		}
	}
	return m
}

// screenful is the whole table at a given moment.
func screenful(b *terminaltest.Many, at time.Duration, width, height int, look terminal.Capabilities) []string {
	c := batchOf(b, at)
	v := view{
		Page: style.Page{Width: width, Now: terminaltest.T0.Add(at), Styles: look.Styles()}, height: height,
		frame: 2,
	}
	if c.result != nil {
		return c.final(v)
	}
	p := c.picture(v)
	return slices.Concat(p.final, p.live)
}

// screen is the whole story at a given moment, nothing scrolled away.
func screen(s *terminaltest.Script, at time.Duration, width int, look terminal.Capabilities) []string {
	m := singleOf(s, at)
	v := view{Page: style.Page{Width: width, Now: terminaltest.T0.Add(at), Styles: look.Styles()}, height: 50, frame: 2}
	p := m.picture(v)
	lines := slices.Concat(p.final, p.live)
	if m.result != nil {
		v.headed, v.written = true, p.written
		lines = append(lines, m.final(v)...)
	}
	return lines
}

// stage sets up a live view in a bubble of time that begins at t0.
func newStage(width, height int, caps terminal.Capabilities) (*frames, *Live) {
	f, s := stage(width, height, caps)
	return f, New(s, terminaltest.Single(terminaltest.Alice))
}

// newBatchStage sets up a live view of several in a bubble of time.
func newBatchStage(b wording.Batch, width, height int, caps terminal.Capabilities) (*frames, *Live) {
	f, s := stage(width, height, caps)
	return f, New(s, b)
}

// stage is an output that shows what is drawn, and a clock that begins at t0.
func stage(width, height int, caps terminal.Capabilities) (*frames, terminal.Streams) {
	start := time.Now()
	f := &frames{VT: terminaltest.NewVT(width, height)}
	s, _ := terminal.Test("", terminaltest.T0)
	s.Err = terminal.Output{Writer: f, Capabilities: caps, Size: f.Size}
	s.Now = func() time.Time { return terminaltest.T0.Add(time.Since(start)) }
	return f, s
}
