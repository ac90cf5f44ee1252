package watching

import (
	"fmt"
	"sync"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/redraw"
	"github.com/berthdev/berth/internal/terminal/style"
)

// ageTime is how often a picture is drawn anew for its ages alone.
const ageTime = time.Second

// watchPicture redraws a list, or one workspace in full, in place.
type watchPicture struct {
	s    terminal.Streams
	wide bool
	view View
	st   style.Styles
	stop func()

	mu      sync.Mutex
	painter redraw.Painter
	rows    map[string]v1.Workspace // by namespace and ID
	trouble string
	begun   bool
	stale   bool
	drawn   time.Time
	closed  bool
}

func newWatchPicture(s terminal.Streams, f printer.Format, v View) *watchPicture {
	p := &watchPicture{
		s: s, wide: f.IsWide(), view: v, st: s.Out.Styles(),
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
func (p *watchPicture) tick(quit <-chan struct{}) {
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

func (p *watchPicture) Changed(ws []v1.Workspace) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range ws {
		name := w.Namespace + "/" + w.ID
		if p.rows[name] = w; !p.view.One && (w.Gone || !p.view.Keep(w)) {
			delete(p.rows, name)
		}
	}
	p.trouble, p.stale = "", true
	if !p.begun {
		p.begun = true
		p.draw()
	}
}

func (p *watchPicture) Interrupted(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.trouble, p.stale = unheard(err), true
}

// Close draws what is to stay.
func (p *watchPicture) Close() {
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
}

// draw paints the picture of this moment; the lock is held.
func (p *watchPicture) draw() {
	if p.closed {
		return
	}
	width, height := p.s.Out.Size()
	p.painter.Paint(nil, style.Fit(p.lines(width, height), width), width)
	p.stale, p.drawn = false, time.Now()
}

func (p *watchPicture) lines(width, height int) []string {
	var lines []string
	more := ""
	items := make([]v1.Workspace, 0, len(p.rows))
	for _, w := range p.rows {
		items = append(items, w)
	}
	switch {
	case len(items) == 0:
		lines = []string{style.Paint(p.st.Grey, "no workspaces")}
	case p.view.One:
		lines = printer.WorkspaceLines(items[0], p.wide, p.s, p.st)
	default:
		p.view.Sort(items)
		lines = printer.ListLines(items, p.wide, p.view.List, p.s.Out, p.st, p.s.Now())
		more = "and %d more"
	}
	foot := p.foot(width)
	if room := height - 1 - len(foot); height > 0 && len(lines) > room {
		left := len(lines) - max(room-1, 0)
		lines = lines[:len(lines)-left]
		if more != "" {
			lines = append(lines, style.Paint(p.st.Grey, p.st.Ellipsis+" "+fmt.Sprintf(more, left)))
		}
	}
	return append(lines, foot...)
}

// foot is what stands below: that the cluster is not heard.
func (p *watchPicture) foot(width int) []string {
	if p.trouble == "" {
		return nil
	}
	return []string{style.Paint(p.st.Yellow, p.st.Cut(p.st.Warning+" "+p.st.Text(p.trouble), width-1))}
}
