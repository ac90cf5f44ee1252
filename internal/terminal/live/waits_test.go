package live

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/berthdev/berth/internal/terminal/terminaltest"
)

// What is waited for is a line of the picture as long as it lasts, also before anything
// has happened, and never a line above it.
func TestLiveShowsWhatIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s := stage(80, 20, terminaltest.PlainLook)
		l := New(s, terminaltest.Single(terminaltest.Alice))
		over := s.Waiting("the API server https://x to answer")
		time.Sleep(time.Second)
		isThere := func() bool { return strings.Contains(f.Text(), "waiting for the API server https://x to answer") }
		if !isThere() {
			t.Errorf("the screen has\n%s", f.Text())
		}
		over()
		time.Sleep(time.Second)
		if isThere() {
			t.Errorf("the screen still has\n%s", f.Text())
		}
		terminaltest.Play(l, terminaltest.Succeeding().Events, time.Hour)
		if isThere() || f.Hidden {
			t.Errorf("the screen has in the end\n%s", f.Text())
		}
	})
}
