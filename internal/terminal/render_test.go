package terminal

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	v1 "github.com/berthdev/berth/api/v1"
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

// A long message takes what room there is, and never that of the time.
func TestTheTimeHasAColumnOfItsOwn(t *testing.T) {
	s := &script{}
	s.step(0, "blueprint", v1.StepBegun, "", 0)
	s.step(1*sc, "blueprint", v1.StepEnded, "data-science ← python-base ← platform-base ← base, 14 settings of its own", 1)
	s.step(1*sc, "install", v1.StepBegun, "", 0)
	s.step(2*sc, "install", v1.StepEnded, "7 objects", 1)
	for width, cut := range map[int]bool{60: true, 80: true, 120: false} {
		lines := screen(s, 2*sc, width, plainLook)[2:4]
		at := ansi.StringWidth(strings.TrimSuffix(lines[0], "1s"))
		if !strings.HasSuffix(lines[1], "  1s") || ansi.StringWidth(lines[1]) != at+2 {
			t.Errorf("%d columns: the times are not below each other:\n%s", width, joinLines(lines))
		}
		if strings.Contains(lines[0], "…") != cut {
			t.Errorf("%d columns: cut %v, want %v: %s", width, !cut, cut, lines[0])
		}
	}
}

// An image is longer than a narrow terminal: what does not fit goes on below,
// not at the edge.
func TestALongWordKeepsTheIndent(t *testing.T) {
	image := "registry.example.com/a-team-with-a-long-name/and-an-image-to-match:2026.11.20-nightly"
	w := workspace(v1.StageFailed, v1.Snapshot{Cause: &v1.Cause{Message: "image " + image + " not found"}})
	s := ending(2*sc, "FAILED", 3, v1.Error{Message: "image " + image + " not found", Hint: image + " does not exist"}, &w)
	text := ""
	for _, line := range screen(s, time.Hour, 60, plainLook)[7:] {
		if ansi.StringWidth(line) >= 60 || line != "" && !strings.HasPrefix(line, "  ") {
			t.Errorf("%q", line)
		}
		text += strings.TrimSpace(line)
	}
	if strings.Count(text, image) != 2 {
		t.Errorf("the image is not whole, twice: %s", text)
	}
}
