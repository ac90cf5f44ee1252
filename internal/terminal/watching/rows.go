package watching

import (
	"fmt"
	"io"
	"strings"
	"sync"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/result"
	"github.com/berthdev/berth/internal/terminal/style"
)

// rows prints a row for each change, as kubectl does: what was printed stays as it
// is. A row in which only ages are new is left out.
type rows struct {
	s      terminal.Streams
	format printer.Format
	view   View

	mu      sync.Mutex
	closed  bool
	headed  bool
	widths  []int
	printed map[string]string // by namespace and ID
	events  map[v1.ObjectEvent]bool
}

func (r *rows) Changed(ws []v1.Workspace) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	page := printer.Page(r.s, r.format)
	news := r.news(ws, page)
	if len(news) == 0 {
		return
	}
	cols := r.columns(news, page)
	widths, _ := style.Natural(cols)
	for i, known := range r.widths {
		widths[i] = max(widths[i], known)
	}
	r.widths = widths
	var lines []string
	if !r.headed && !r.view.NoHeaders {
		lines = append(lines, style.TableRow(cols, widths, -1, page.Styles))
	}
	r.headed = true
	for row, w := range news {
		lines = append(lines, style.TableRow(cols, widths, row, page.Styles))
		lines = append(lines, r.eventLines(w.Events, page)...)
	}
	_, _ = io.WriteString(r.s.Out, style.JoinLines(lines))
}

func (r *rows) columns(ws []v1.Workspace, page style.Page) []style.Column {
	return result.Workspaces{WorkspaceList: v1.WorkspaceList{Items: ws}, Table: r.view.Table}.Columns(page)
}

// news are those whose row or events are not the same as before.
func (r *rows) news(ws []v1.Workspace, page style.Page) (news []v1.Workspace) {
	for _, w := range ws {
		ageless := w
		ageless.Since, page.Now = w.CreatedAt, w.CreatedAt
		var text strings.Builder
		for _, col := range r.columns([]v1.Workspace{ageless}, page) {
			text.WriteString(col.Cells[0] + "\x00")
		}
		for _, e := range w.Events {
			fmt.Fprintf(&text, "%s %s %s %d\x00", e.Object, e.Reason, e.Message, e.Count)
		}
		name := w.Namespace + "/" + w.ID
		if r.printed[name] == text.String() {
			continue
		}
		if r.printed[name] = text.String(); w.Gone {
			delete(r.printed, name)
		}
		news = append(news, w)
	}
	return news
}

// eventLines are the events that were not printed yet, or happened again.
func (r *rows) eventLines(events []v1.ObjectEvent, page style.Page) (lines []string) {
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
		lines = append(lines, page.Text(line+" "+e.Object+": "+e.Message))
	}
	return lines
}

func (r *rows) Interrupted(err error) { printer.PrintNote(r.s, interruption(err)) }

func (r *rows) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
}
