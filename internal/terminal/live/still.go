package live

import (
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// Still is what the live view shows at a moment of what has happened until
// then, nothing scrolled away: for pictures of it.
type Still struct {
	Look  terminal.Capabilities
	Width int
	// At is the moment.
	At time.Time
}

// Of draws the view of a batch.
func (s Still) Of(b wording.Batch, events []v1.Event) []string {
	m := newBatchModel(b)
	for _, e := range events {
		if e.At.After(s.At) {
			break
		}
		m.handle(e)
	}
	v := view{Page: style.Page{Width: s.Width, Now: s.At, Styles: s.Look.Styles()}, frame: 2}
	p := m.picture(v)
	if m.result == nil {
		return append(p.final, p.live...)
	}
	v.headed, v.written = true, p.written
	return append(p.final, m.final(v)...)
}
