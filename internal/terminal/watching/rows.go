package watching

import (
	"fmt"
	"io"
	"strings"
	"sync"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/style"
)

// watchRows prints a row for each change, as kubectl does: what was printed
// stays as it is. A row that says nothing new but ages is left out.
type watchRows struct {
	s    terminal.Streams
	wide bool
	view View
	st   style.Styles

	mu     sync.Mutex
	closed bool
	headed bool
	widths []int
	told   map[string]string // by namespace and ID
	events map[v1.ObjectEvent]bool
}

func (r *watchRows) Changed(ws []v1.Workspace) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	news := r.news(ws)
	if len(news) == 0 {
		return
	}
	cols := printer.ListColumns(news, r.wide, r.view.List, r.st, r.s.Now())
	widths, _ := style.Natural(cols)
	for i, known := range r.widths {
		widths[i] = max(widths[i], known)
	}
	r.widths = widths
	var lines []string
	if !r.headed && !r.view.NoHeaders {
		lines = append(lines, style.TableRow(cols, widths, -1, r.st))
	}
	r.headed = true
	for row, w := range news {
		lines = append(lines, style.TableRow(cols, widths, row, r.st))
		lines = append(lines, r.eventLines(w.Events)...)
	}
	_, _ = io.WriteString(r.s.Out, style.JoinLines(lines))
}

// news are those whose row or events are not the same as before.
func (r *watchRows) news(ws []v1.Workspace) (news []v1.Workspace) {
	for _, w := range ws {
		var bare strings.Builder
		for _, col := range printer.ListColumns([]v1.Workspace{w}, r.wide, r.view.List, r.st, w.CreatedAt) {
			if col.Title == "WHY" {
				w := w
				w.Since = w.CreatedAt
				col.Cells[0] = printer.Why(w, w.CreatedAt)
			}
			bare.WriteString(col.Cells[0] + "\x00")
		}
		name := w.Namespace + "/" + w.ID
		for _, e := range w.Events {
			fmt.Fprintf(&bare, "%s %s %s %d\x00", e.Object, e.Reason, e.Message, e.Count)
		}
		if r.told[name] == bare.String() {
			continue
		}
		if r.told[name] = bare.String(); w.Gone {
			delete(r.told, name)
		}
		news = append(news, w)
	}
	return news
}

// eventLines are the events that were not told yet, or happened again.
func (r *watchRows) eventLines(events []v1.ObjectEvent) (lines []string) {
	if r.events == nil {
		r.events = map[v1.ObjectEvent]bool{}
	}
	for _, e := range events {
		if r.events[e] {
			continue
		}
		r.events[e] = true
		line := "  " + e.At.UTC().Format("15:04:05Z") + " " + e.Type + " " + e.Reason
		if e.Count > 1 {
			line += fmt.Sprintf(" x%d", e.Count)
		}
		lines = append(lines, r.st.Text(line+" "+e.Object+": "+e.Message))
	}
	return lines
}

func (r *watchRows) Interrupted(err error) {
	_, _ = fmt.Fprintln(r.s.Err, r.s.Err.Styles().Text(unheard(err)))
}

func (r *watchRows) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
}
