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

// scene is what a live view shows: one workspace, or several.
type scene interface {
	handle(v1.Event)
	// blank says that there is nothing to draw yet.
	blank() bool
	// picture is what is to be on the screen at a moment. It is pure.
	picture(view) picture
	// ending is what is to stay on the screen; without a result the story is
	// given up.
	ending(view) []string
}

// live redraws a picture of what happens in place.
type live struct {
	out Output
	now func() time.Time
	st  styles

	mu      sync.Mutex
	scene   scene
	painter painter
	settled int
	headed  bool
	frame   int
	result  bool // has been handled
	shown   bool // the result
	closed  bool

	stop func()
}

// newLive starts the view; it draws until it has handled a result or Stop is
// called.
func newLive(out Output, sc scene, now func() time.Time) *live {
	l := &live{out: out, now: now, st: newStyles(out.Capabilities), scene: sc, painter: painter{out: out}}
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
		l.scene.handle(e)
		l.result = l.result || e.Result != nil
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
	if l.closed || l.scene.blank() {
		return
	}
	v := l.view()
	p := l.scene.picture(v)
	l.painter.paint(p.final, p.live, v.width)
	l.settled, l.headed = p.settled, true
	l.frame++
}

// last paints what is to stay, if there is anything.
func (l *live) last() {
	v := l.view()
	if final := l.scene.ending(v); len(final) > 0 || l.headed {
		l.painter.paint(final, nil, v.width)
	}
	l.shown = l.result
}

func (l *live) view() view {
	width, height := l.out.Size()
	return view{width: width, height: height, now: l.now(), frame: l.frame, st: l.st, settled: l.settled, headed: l.headed}
}
