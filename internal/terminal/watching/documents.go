package watching

import (
	"bytes"
	"fmt"
	"sync"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
)

// watchDocuments prints a document for each change. JSON is one line, so that a
// reader knows where a document ends; YAML begins with its separator.
type watchDocuments struct {
	s      terminal.Streams
	format printer.Format

	mu     sync.Mutex
	closed bool
}

func (d *watchDocuments) Changed(ws []v1.Workspace) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range ws {
		if d.closed {
			return
		}
		_, _ = d.s.Out.Write(d.document(&ws[i]))
	}
}

func (d *watchDocuments) document(w *v1.Workspace) []byte {
	var b bytes.Buffer
	to := d.s
	to.Out.Writer = &b
	if err := printer.PrintNext(to, d.format, w); err != nil {
		_, _ = fmt.Fprintln(d.s.Err, err) // of this document only; the next may fit
	}
	if text := b.Bytes(); len(text) == 0 || text[len(text)-1] != '\n' {
		b.WriteByte('\n')
	}
	return b.Bytes()
}

func (d *watchDocuments) Interrupted(err error) {
	_, _ = fmt.Fprintln(d.s.Err, d.s.Err.Styles().Text(unheard(err)))
}

func (d *watchDocuments) Close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
}
