package terminal

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
)

var (
	plainLook  = Capabilities{TTY: true, Live: true, Unicode: true}
	colourLook = Capabilities{TTY: true, Live: true, Unicode: true, Profile: Colour16}
	asciiLook  = Capabilities{TTY: true, Live: true}
)

// screen is the whole story as it stands at a moment, nothing scrolled away.
func screen(s *script, at time.Duration, width int, look Capabilities) []string {
	m := s.until(at)
	v := view{width: width, height: 50, now: t0.Add(at), frame: 2, st: newStyles(look)}
	p := render(m, v)
	lines := slices.Concat(p.final, p.live)
	if m.result != nil {
		v.headed = true
		lines = append(lines, summary(m, v)...)
	}
	return lines
}

func TestFrames(t *testing.T) {
	moments := []time.Duration{20 * ms, 300 * ms, 6 * sc, 16 * sc, 20 * sc, 22 * sc}
	looks := []struct {
		name  string
		look  Capabilities
		width []int
	}{{"plain", plainLook, []int{40, 80, 120, 200}}, {"colour", colourLook, []int{80}}, {"ascii", asciiLook, []int{80}}}
	for _, l := range looks {
		for _, width := range l.width {
			t.Run(fmt.Sprintf("%s-%d", l.name, width), func(t *testing.T) {
				var b strings.Builder
				for _, at := range moments {
					fmt.Fprintf(&b, "--- %s\n%s", at, joinLines(screen(succeeding(), at, width, l.look)))
				}
				golden(t, fmt.Sprintf("frames/%s-%d.txt", l.name, width), visible(b.String()))
			})
		}
	}
}

func TestEndings(t *testing.T) {
	endings := map[string]*script{
		"image-not-found": imageNotFound(), "crash-loop": crashLoop(), "timed-out": timedOut(), "interrupted": interrupted(),
		"deleted": deleted(true), "deleted-not-gone": deleted(false), "refused": refused(),
	}
	for name, s := range endings {
		for _, width := range []int{40, 80, 120} {
			t.Run(fmt.Sprintf("%s-%d", name, width), func(t *testing.T) {
				golden(t, fmt.Sprintf("endings/%s-%d.txt", name, width), visible(joinLines(screen(s, time.Hour, width, plainLook))))
			})
		}
	}
	t.Run("colour", func(t *testing.T) {
		golden(t, "endings/crash-loop-colour.txt", visible(joinLines(screen(crashLoop(), time.Hour, 100, colourLook))))
	})
}

// visible makes escape sequences readable in a golden file.
func visible(s string) string { return strings.ReplaceAll(s, "\x1b", "ESC") }

func TestNoLineIsAsWideAsTheTerminal(t *testing.T) {
	for width := 1; width <= 130; width++ {
		for _, at := range []time.Duration{20 * ms, 300 * ms, 6 * sc, 16 * sc, 20 * sc} {
			for _, look := range []Capabilities{plainLook, colourLook, asciiLook} {
				for _, line := range screen(succeeding(), at, width, look) {
					if got := ansi.StringWidth(line); got >= width && got > 0 {
						t.Fatalf("width %d at %s: %d columns: %q", width, at, got, line)
					}
				}
			}
		}
	}
}

func TestRegionKeepsTheNewestLines(t *testing.T) {
	m := succeeding().until(16 * sc)
	v := view{width: 80, height: 50, now: t0.Add(16 * sc), st: newStyles(plainLook), headed: true}
	whole := render(m, v).live
	v.height = 3
	cut := render(m, v).live
	if len(cut) != 2 || cut[1] != whole[len(whole)-1] {
		t.Errorf("got %q of %q, want the last two lines", cut, whole)
	}
}

func TestRenderIsPure(t *testing.T) {
	m := succeeding().until(16 * sc)
	v := view{width: 80, height: 50, now: t0.Add(16 * sc), st: newStyles(plainLook)}
	a, b := render(m, v), render(m, v)
	if fmt.Sprint(a) != fmt.Sprint(b) {
		t.Errorf("two renderings of one model differ:\n%v\n%v", a, b)
	}
}
