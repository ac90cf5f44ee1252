package terminal

import (
	"sync"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
)

const (
	// quietFor is how long nothing is drawn, so that quick commands stay quiet.
	quietFor = 200 * time.Millisecond
	// frameTime lets the spinner turn smoothly; with the last frame, which does
	// not wait, there are never more than ten in a second.
	frameTime = 125 * time.Millisecond
)

// live redraws a picture of what happens in place.
type live struct {
	out Output
	now func() time.Time
	st  styles

	mu      sync.Mutex
	model   model
	painter painter
	settled int
	headed  bool
	frame   int
	shown   bool // the result
	closed  bool

	stop func()
}

// newLive starts the view; it draws until it has handled a result or Stop is
// called.
func newLive(out Output, title Title, now func() time.Time) *live {
	l := &live{out: out, now: now, st: newStyles(out.Capabilities), model: model{title: title}, painter: painter{out: out}}
	quit, gone := make(chan struct{}), make(chan struct{})
	l.stop = sync.OnceFunc(func() { close(quit); <-gone })
	go func() {
		defer close(gone)
		l.tick(quit)
	}()
	return l
}

// tick draws a frame from time to time.
func (l *live) tick(quit <-chan struct{}) {
	select {
	case <-time.After(quietFor):
	case <-quit:
		return
	}
	l.draw()
	ticker := time.NewTicker(frameTime)
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
func (l *live) Handle(e v1.Event) {
	l.mu.Lock()
	if !l.closed {
		l.model.handle(e)
	}
	l.mu.Unlock()
	if e.Result != nil {
		l.Stop()
	}
}

// Stop ends the view and gives the cursor back. It may be called at any time
// and more than once.
func (l *live) Stop() {
	l.stop()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	l.closed = true
	l.last()
	l.painter.close()
}

// Shown says whether the result, and so a failure, was shown.
func (l *live) Shown() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.shown
}

// draw paints the picture of this moment.
func (l *live) draw() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || len(l.model.items) == 0 && l.model.progress == nil {
		return
	}
	v := l.view()
	p := render(&l.model, v)
	l.painter.paint(p.final, p.live, v.width)
	l.settled, l.headed = p.settled, true
	l.frame++
}

// last paints what is to stay. A command that was quick has drawn nothing, and
// leaves only its summary.
func (l *live) last() {
	v := l.view()
	if !l.headed && l.model.result == nil {
		return
	}
	var final []string
	if l.headed {
		if l.model.result == nil {
			l.model.abandon(v.now)
		}
		final = render(&l.model, v).final
	}
	if l.model.result != nil {
		final = append(final, summary(&l.model, v)...)
		l.shown = true
	}
	l.painter.paint(final, nil, v.width)
}

func (l *live) view() view {
	width, height := l.out.Size()
	return view{width: width, height: height, now: l.now(), frame: l.frame, st: l.st, settled: l.settled, headed: l.headed}
}
