// Package live is the view of a command in progress that is redrawn in place: of
// one workspace, or of several in a table. What it shows is a function of the
// events and of the time.
package live

import (
	"sync"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/redraw"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// quietFor is how long nothing is drawn, so that quick commands stay quiet.
const quietFor = 200 * time.Millisecond

// Live redraws a picture of what happens in place.
type Live struct {
	out   terminal.Output
	now   func() time.Time
	st    style.Styles
	waits *terminal.Waits

	mu      sync.Mutex
	model   *batchModel
	painter redraw.Painter
	written int
	headed  bool
	waited  bool // the picture has what is waited for
	frame   int
	result  bool // has been handled
	shown   bool // the result
	closed  bool

	stop    func()
	release func() // of the waits, which the picture has
}

// New starts the view of a batch on stderr; it draws until it has handled a result or Stop
// is called.
func New(s terminal.Streams, b wording.Batch) *Live {
	l := &Live{
		out: s.Err, now: s.Now, st: s.Err.Styles(), waits: s.Waits, model: newBatchModel(b),
		painter: redraw.Painter{Out: s.Err}, release: s.Waits.Shown(),
	}
	quit, gone := make(chan struct{}), make(chan struct{})
	l.stop = sync.OnceFunc(func() { close(quit); <-gone })
	go func() {
		defer close(gone)
		l.tick(quit)
	}()
	return l
}

// tick draws a frame from time to time.
func (l *Live) tick(quit <-chan struct{}) {
	select {
	case <-time.After(quietFor):
	case <-quit:
		return
	}
	l.draw()
	ticker := time.NewTicker(redraw.FrameTime)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			l.draw()
		case <-quit:
			return
		}
	}
}

// Handle takes an event; the result ends the view.
func (l *Live) Handle(e v1.Event) {
	l.mu.Lock()
	if !l.closed {
		l.model.handle(e)
		l.result = l.result || e.Result != nil
	}
	l.mu.Unlock()
	if e.Result != nil {
		l.Stop()
	}
}

// Stop ends the view and gives the cursor back. It may be called at any time
// and more than once.
func (l *Live) Stop() {
	l.stop()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	l.closed = true
	l.last()
	l.painter.Close()
	l.release()
}

// Shown says whether the result, and so a failure, was shown.
func (l *Live) Shown() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.shown
}

// draw paints the picture of this moment.
func (l *Live) draw() {
	l.mu.Lock()
	defer l.mu.Unlock()
	v := l.view()
	v.waits = l.waits.Lines()
	if l.closed || l.model.blank() && len(v.waits) == 0 && !l.waited {
		return
	}
	p := l.model.picture(v)
	l.painter.Paint(p.final, p.live, v.Width)
	l.written, l.headed = p.written, !l.model.blank()
	l.waited = len(v.waits) > 0
	l.frame++
}

// last paints what is to stay, if there is anything.
func (l *Live) last() {
	v := l.view()
	if final := l.model.final(v); len(final) > 0 || l.headed || l.waited {
		l.painter.Paint(final, nil, v.Width)
	}
	l.shown = l.result
}

func (l *Live) view() view {
	width, height := l.out.Size()
	return view{
		Page: style.Page{Width: width, Now: l.now(), Styles: l.st}, height: height, frame: l.frame,
		written: l.written, headed: l.headed,
	}
}
