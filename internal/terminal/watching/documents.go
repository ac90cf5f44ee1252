package watching

import (
	"bytes"
	"sync"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/result"
)

// documents prints a document for each change.
type documents struct {
	s      terminal.Streams
	format printer.Format

	mu     sync.Mutex
	closed bool
}

func (d *documents) Changed(ws []v1.Workspace) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, w := range ws {
		if d.closed {
			return
		}
		_, _ = d.s.Out.Write(d.document(w))
	}
}

func (d *documents) document(w v1.Workspace) []byte {
	var b bytes.Buffer
	to := d.s
	to.Out.Writer = &b
	if err := printer.PrintNext(to, d.format, result.Workspace{Workspace: w}); err != nil {
		printer.PrintNote(d.s, err.Error()) // about this document only; the next may fit
	}
	if text := b.Bytes(); len(text) == 0 || text[len(text)-1] != '\n' {
		b.WriteByte('\n')
	}
	return b.Bytes()
}

func (d *documents) Interrupted(err error) { printer.PrintNote(d.s, interruption(err)) }

func (d *documents) Close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
}
