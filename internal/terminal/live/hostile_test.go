package live

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/terminaltest"
	"github.com/berthdev/berth/internal/terminal/wording"
)

func TestTextFromElsewhereIsHarmless(t *testing.T) {
	title := wording.Title{
		UserString: terminaltest.Hostile, ID: terminaltest.Hostile, Namespace: terminaltest.Hostile,
		Verb: "provision",
	}
	m := newBatchModel(terminaltest.Single(title))
	v := view{Page: style.Page{Width: 100, Now: terminaltest.T0, Styles: terminaltest.PlainLook.Styles()}, height: 50}
	for _, e := range terminaltest.HostileStory() {
		m.handle(e)
		p := m.picture(v)
		terminaltest.Harmless(t, "live", style.JoinLines(append(p.final, p.live...)))
	}
	terminaltest.Harmless(t, "summary", style.JoinLines(m.summary(v)))

	b := terminaltest.HostileBatch()
	for _, at := range []time.Duration{20 * ms, 1 * sc, 2 * sc, time.Hour} {
		terminaltest.Harmless(t, "many", style.JoinLines(screenful(b, at, 100, 50, terminaltest.PlainLook)))
	}
	terminaltest.Harmless(t, "summary of many",
		style.JoinLines(screenful(b.End(), time.Hour, 100, 50, terminaltest.PlainLook)))

	synctest.Test(t, func(t *testing.T) {
		f, r := newStage(100, 50, terminaltest.PlainLook)
		terminaltest.Play(r, terminaltest.HostileStory(), time.Hour)
		if len(f.Unknown) > 0 {
			t.Errorf("sequences that are not the painter's: %q", f.Unknown)
		}
	})
}
