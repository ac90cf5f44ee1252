package live

import (
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal"
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

// Of draws the view of one workspace.
func (s Still) Of(title wording.Title, events []v1.Event) []string {
	return s.draw(&model{title: title}, events)
}

// OfMany draws the view of several.
func (s Still) OfMany(b wording.Batch, events []v1.Event) []string {
	return s.draw(newCrowd(b), events)
}

func (s Still) draw(sc scene, events []v1.Event) []string {
	ended := false
	for _, e := range events {
		if e.At.After(s.At) {
			break
		}
		sc.handle(e)
		ended = ended || e.Result != nil
	}
	v := view{Page: wording.Page{Width: s.Width, Now: s.At, Styles: s.Look.Styles()}, frame: 2}
	p := sc.picture(v)
	if !ended {
		return append(p.final, p.live...)
	}
	v.headed, v.settled = true, p.settled
	return append(p.final, sc.ending(v)...)
}
