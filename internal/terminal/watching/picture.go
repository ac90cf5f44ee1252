package watching

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/redraw"
	"github.com/berthdev/berth/internal/terminal/result"
	"github.com/berthdev/berth/internal/terminal/style"
)

// ageTime is how often a picture is drawn again for its ages alone.
const ageTime = time.Second

// picture redraws a list, or one workspace in full, in place.
type picture struct {
	s      terminal.Streams
	format printer.Format
	view   View
	stop   func()

	mu      sync.Mutex
	painter redraw.Painter
	rows    map[string]v1.Workspace // by namespace and ID
	trouble string
	begun   bool
	stale   bool
	drawn   time.Time
	closed  bool
	release func() // of the waits, which the picture has from its first frame on
}

func newPicture(s terminal.Streams, f printer.Format, v View) *picture {
	p := &picture{
		s: s, format: f, view: v,
		painter: redraw.Painter{Out: s.Out}, rows: map[string]v1.Workspace{},
	}
	quit, gone := make(chan struct{}), make(chan struct{})
	p.stop = sync.OnceFunc(func() { close(quit); <-gone })
	go func() {
		defer close(gone)
		p.tick(quit)
	}()
	return p
}

// tick draws what has changed, not more often than an eye can follow.
func (p *picture) tick(quit <-chan struct{}) {
	ticker := time.NewTicker(redraw.FrameTime)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			p.mu.Lock()
			if p.begun && (p.stale || time.Since(p.drawn) >= ageTime) {
				p.draw()
			}
			p.mu.Unlock()
		case <-quit:
			return
		}
	}
}

func (p *picture) Changed(ws []v1.Workspace) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range ws {
		name := w.Namespace + "/" + w.ID
		if p.rows[name] = w; !p.view.One && (w.Gone && !w.Startable || !p.view.Keep(w)) {
			delete(p.rows, name)
		}
	}
	p.trouble, p.stale = "", true
	if !p.begun {
		p.begun = true
		p.draw()
	}
}

func (p *picture) Interrupted(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.trouble, p.stale = interruption(err), true
}

// Close draws what is to stay.
func (p *picture) Close() {
	p.stop()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	if p.begun && p.stale {
		p.draw()
	}
	p.closed = true
	p.painter.Close()
	if p.release != nil {
		p.release()
	}
}

// draw paints the picture of this moment; the lock is held.
func (p *picture) draw() {
	if p.closed {
		return
	}
	if p.release == nil {
		p.release = p.s.Waits.Shown()
	}
	width, height := p.s.Out.Size()
	p.painter.Paint(nil, style.Fit(p.lines(width, height), width), width)
	p.stale, p.drawn = false, time.Now()
}

func (p *picture) lines(width, height int) []string {
	var lines []string
	page, more := printer.Page(p.s, p.format), false
	items := slices.Collect(maps.Values(p.rows))
	switch {
	case len(items) == 0:
		lines = []string{style.Paint(page.Grey, "no workspaces")}
	case p.view.One:
		lines, _ = result.Workspace{Workspace: items[0]}.Text(page) // it is made of strings
	default:
		p.view.Sort(items)
		lines, _ = result.Workspaces{WorkspaceList: v1.WorkspaceList{Items: items}, Table: p.view.Table}.Text(page)
		more = true
	}
	var foot []string
	if p.trouble != "" {
		foot = []string{style.Paint(page.Yellow, page.Cut(page.Warning+" "+page.Text(p.trouble), width-1))}
	}
	for _, line := range p.s.Waits.Lines() {
		foot = append(foot, style.Paint(page.Grey, page.Cut(page.Text(line), width-1)))
	}
	if room := height - 1 - len(foot); height > 0 && len(lines) > room {
		left := len(lines) - max(room-1, 0)
		lines = lines[:len(lines)-left]
		if more {
			lines = append(lines, style.Paint(page.Grey, fmt.Sprintf("%s and %d more", page.Ellipsis, left)))
		}
	}
	return append(lines, foot...)
}
