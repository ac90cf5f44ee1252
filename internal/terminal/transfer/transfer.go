// Package transfer shows how far a transfer of files is: a line that is redrawn on a
// terminal, and nothing elsewhere.
package transfer

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/berthdev/berth/internal/english"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/redraw"
	"github.com/berthdev/berth/internal/terminal/style"
)

// quietFor is how long nothing is drawn, so that quick commands stay quiet.
const quietFor = 200 * time.Millisecond

// Sample is how far it is at one moment.
type Sample struct {
	Bytes, Total, Files int64 // Total is 0 if it is not known
	Since               time.Duration
}

// View is the line.
type View struct {
	out     terminal.Output
	read    func() Sample
	painter redraw.Painter
	frame   int
	stop    func()
}

// Start shows what read says, on stderr, until Stop is called.
func Start(s terminal.Streams, read func() Sample) *View {
	v := &View{out: s.Err, read: read, painter: redraw.Painter{Out: s.Err}, stop: func() {}}
	if !s.Err.Live {
		return v
	}
	quit, gone := make(chan struct{}), make(chan struct{})
	v.stop = sync.OnceFunc(func() { close(quit); <-gone })
	s.AtExit(v.Stop)
	go func() {
		defer close(gone)
		v.tick(quit)
	}()
	return v
}

// Stop removes the line.
func (v *View) Stop() { v.stop() }

func (v *View) tick(quit <-chan struct{}) {
	drawn := false
	defer func() {
		if drawn {
			v.painter.Paint(nil, nil, v.out.Width())
			v.painter.Close()
		}
	}()
	next := time.NewTimer(quietFor)
	defer next.Stop()
	for {
		select {
		case <-next.C:
			width := v.out.Width()
			line := Line(v.out.Styles(), v.read(), v.frame)
			v.painter.Paint(nil, style.Fit([]string{line}, width), width)
			drawn = true
			v.frame++
			next.Reset(redraw.FrameTime)
		case <-quit:
			return
		}
	}
}

// Line is what is shown of a sample.
func Line(st style.Styles, s Sample, frame int) string {
	amount := style.Bytes(s.Bytes) + "B"
	if s.Total > 0 {
		amount = fmt.Sprintf("%s of %sB, %d%%", style.Bytes(s.Bytes), style.Bytes(s.Total),
			min(100*s.Bytes/s.Total, 100))
	}
	parts := []string{amount, english.Plural(int(s.Files), "file"), style.Rate(s.Bytes, s.Since), style.Whole(s.Since)}
	return st.Spinner[frame%len(st.Spinner)] + " " + strings.Join(parts, st.Dot)
}
