package terminal

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestTextFromElsewhereIsHarmless(t *testing.T) {
	title := Title{UserString: Hostile, ID: Hostile, Namespace: Hostile, Verb: "provision"}
	m, v := &model{title: title}, view{Page: Page{Width: 100, Now: T0, Styles: PlainLook.Styles()}, height: 50}
	for _, e := range HostileStory() {
		m.handle(e)
		p := render(m, v)
		Harmless(t, "live", JoinLines(append(p.final, p.live...)))
	}
	Harmless(t, "summary", JoinLines(summary(m, v)))

	b := HostileBatch()
	for _, at := range []time.Duration{20 * ms, 1 * sc, 2 * sc, time.Hour} {
		Harmless(t, "many", JoinLines(screenful(b, at, 100, 50, PlainLook)))
	}
	Harmless(t, "summary of many", JoinLines(screenful(b.End(), time.Hour, 100, 50, PlainLook)))

	synctest.Test(t, func(t *testing.T) {
		f, r := newStage(100, 50, PlainLook)
		Play(r, HostileStory(), time.Hour)
		if len(f.Unknown) > 0 {
			t.Errorf("sequences that are not the painter's: %q", f.Unknown)
		}
	})
}
