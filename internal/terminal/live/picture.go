package live

import (
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/result"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// view is everything that decides how a model looks at one moment.
type view struct {
	style.Page
	height int
	frame  int // of the spinner
	// written is how many items are on the screen for good, headed whether the
	// first line is.
	written int
	headed  bool
	waits   []string // what is waited for
}

// picture is what is to be on the screen: lines that will never change again,
// and below them those that may.
type picture struct {
	final   []string
	live    []string
	written int // the items that are in final lines, now and before
}

// blank says that there is nothing to draw yet.
func (b *batchModel) blank() bool {
	if b.Single {
		return len(b.members[0].items) == 0 && b.members[0].progress == nil
	}
	return b.begun.IsZero()
}

// picture is what is to be on the screen at a moment. It is pure: the same model
// and view give the same lines. No line is as wide as the terminal, so that none
// wraps.
func (b *batchModel) picture(v view) picture {
	var p picture
	switch {
	case b.blank():
	case b.Single:
		p = b.members[0].story(v)
	default:
		p = b.table(v)
	}
	for _, line := range v.waits {
		p.live = append(p.live, style.Paint(v.Grey, v.Text(line)))
	}
	p.final, p.live = style.Fit(p.final, v.Width), style.Fit(p.live, v.Width)
	if room := v.height - 1; v.height > 0 && len(p.live) > room {
		p.live = p.live[len(p.live)-max(room, 0):]
	}
	return p
}

// final is what is to stay on the screen; without a result, the command was given
// up. Unlike what is live, it may be longer than the terminal is high.
func (b *batchModel) final(v view) []string {
	if b.Single {
		return b.finalStory(v)
	}
	return b.finalTable(v)
}

// summary is how it ended.
func (b *batchModel) summary(v view) []string {
	var title wording.Title
	if b.Single {
		title = b.Members[0]
	}
	return result.Of(*b.result, b.Batch).Outcome(v.Page, title, b.ended.Sub(b.begun)).Summary(v.Page)
}

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
