package progress

import (
	"sync"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
)

// jsonl writes every event as a line of JSON when it happens. The last line is
// the result's document, as `--output json` would print it, in one line.
type jsonl struct {
	out terminal.Output

	mu     sync.Mutex
	closed bool
	shown  bool
}

// Handle writes one line.
func (j *jsonl) Handle(e v1.Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return
	}
	var doc any = e
	if e.Result != nil {
		doc, j.closed = printer.Document(*e.Result), true
	}
	err := printer.WriteJSONLine(j.out, doc)
	j.shown = e.Result != nil && err == nil
}

// Stop makes it write nothing more.
func (j *jsonl) Stop() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.closed = true
}

// Shown says whether the last line is written.
func (j *jsonl) Shown() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.shown
}
