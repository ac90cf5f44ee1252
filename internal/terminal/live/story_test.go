package live

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/goldentest"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/terminaltest"
)

func TestFrames(t *testing.T) {
	moments := []time.Duration{20 * ms, 300 * ms, 2 * sc, 6 * sc, 16 * sc, 20 * sc, 22 * sc}
	looks := []struct {
		name  string
		look  terminal.Capabilities
		width []int
	}{
		{"plain", terminaltest.PlainLook, []int{40, 80, 120, 200}},
		{"colour", terminaltest.ColourLook, []int{80}},
		{"ascii", terminaltest.AsciiLook, []int{80}},
	}
	for _, l := range looks {
		for _, width := range l.width {
			t.Run(fmt.Sprintf("%s-%d", l.name, width), func(t *testing.T) {
				var b strings.Builder
				for _, at := range moments {
					fmt.Fprintf(&b, "--- %s\n%s", at, style.JoinLines(screen(terminaltest.Succeeding(), at, width,
						l.look)))
				}
				goldentest.Check(t, fmt.Sprintf("frames/%s-%d.txt", l.name, width), terminaltest.Visible(b.String()))
			})
		}
	}
}

// An init script has a line, with what it says last while it runs; one that fails is a warning.
func TestScripts(t *testing.T) {
	for _, width := range []int{40, 80, 120} {
		t.Run(strconv.Itoa(width), func(t *testing.T) {
			var b strings.Builder
			for _, at := range []time.Duration{600 * ms, 1500 * ms, 5 * sc, 7200 * ms} {
				fmt.Fprintf(&b, "--- %s\n%s", at,
					style.JoinLines(screen(terminaltest.Scripts(), at, width, terminaltest.PlainLook)))
			}
			goldentest.Check(t, fmt.Sprintf("frames/scripts-%d.txt", width), terminaltest.Visible(b.String()))
		})
	}
}

// In a workload with several pods the scripts of one are shown, and of the others what fails.
func TestScriptsOfReplicas(t *testing.T) {
	m := &model{title: terminaltest.Alice}
	for i, pod := range []string{"web-a", "web-b", "web-c"} {
		for number, name := range []string{"one", "two"} {
			s := v1.Script{Name: name, Number: number + 1, State: v1.ScriptDone, Object: "pod/" + pod + ":main"}
			if i == 2 && number == 1 {
				s.State, s.ExitCode = v1.ScriptFailed, new(4)
			}
			m.script(s, terminaltest.T0)
		}
	}
	var got []string
	for _, it := range m.items {
		got = append(got, it.name+": "+it.message)
	}
	if want := "one: init script, two: init script, two: failed with exit code 4 in web-c"; strings.Join(got,
		", ") != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestEndings(t *testing.T) {
	endings := map[string]*terminaltest.Script{
		"image-not-found": terminaltest.ImageNotFound(), "crash-loop": terminaltest.CrashLoop(),
		"timed-out": terminaltest.TimedOut(), "interrupted": terminaltest.Interrupted(),
		"deleted": terminaltest.Deleted(true), "deleted-not-gone": terminaltest.Deleted(false),
		"refused": terminaltest.Refused(), "stuck": terminaltest.Stuck(),
		"scripts": terminaltest.Scripts(), "scripts-strict": terminaltest.StrictScripts(),
	}
	for name, s := range endings {
		for _, width := range []int{40, 80, 120} {
			t.Run(fmt.Sprintf("%s-%d", name, width), func(t *testing.T) {
				goldentest.Check(t, fmt.Sprintf("endings/%s-%d.txt", name, width),
					terminaltest.Visible(style.JoinLines(screen(s, time.Hour, width, terminaltest.PlainLook))))
			})
		}
	}
	t.Run("colour", func(t *testing.T) {
		goldentest.Check(t, "endings/crash-loop-colour.txt",
			terminaltest.Visible(style.JoinLines(screen(terminaltest.CrashLoop(), time.Hour, 100,
				terminaltest.ColourLook))))
	})
}

// What does not go on by itself is said while it is waited for, at each width.
func TestStuckFrames(t *testing.T) {
	for _, width := range []int{40, 80, 120} {
		var b strings.Builder
		for _, at := range []time.Duration{30 * sc, 90 * sc} {
			fmt.Fprintf(&b, "--- %s\n%s", at,
				style.JoinLines(screen(terminaltest.Stuck(), at, width, terminaltest.PlainLook)))
		}
		goldentest.Check(t, fmt.Sprintf("frames/stuck-%d.txt", width), terminaltest.Visible(b.String()))
	}
}

func TestNoLineIsAsWideAsTheTerminal(t *testing.T) {
	for width := 1; width <= 130; width++ {
		for _, at := range []time.Duration{20 * ms, 300 * ms, 6 * sc, 16 * sc, 20 * sc} {
			for _, look := range []terminal.Capabilities{
				terminaltest.PlainLook, terminaltest.ColourLook,
				terminaltest.AsciiLook,
			} {
				for _, line := range screen(terminaltest.Succeeding(), at, width, look) {
					if got := ansi.StringWidth(line); got >= width && got > 0 {
						t.Fatalf("width %d at %s: %d columns: %q", width, at, got, line)
					}
				}
			}
		}
	}
}

func TestRegionKeepsTheNewestLines(t *testing.T) {
	m := singleOf(terminaltest.Succeeding(), 16*sc)
	v := view{
		Page:   style.Page{Width: 80, Now: terminaltest.T0.Add(16 * sc), Styles: terminaltest.PlainLook.Styles()},
		height: 50, headed: true,
	}
	whole := m.picture(v).live
	v.height = 3
	cut := m.picture(v).live
	if len(cut) != 2 || cut[1] != whole[len(whole)-1] {
		t.Errorf("got %q of %q, want the last two lines", cut, whole)
	}
}

func TestRenderIsPure(t *testing.T) {
	m := singleOf(terminaltest.Succeeding(), 16*sc)
	v := view{
		Page:   style.Page{Width: 80, Now: terminaltest.T0.Add(16 * sc), Styles: terminaltest.PlainLook.Styles()},
		height: 50,
	}
	a, b := m.picture(v), m.picture(v)
	if fmt.Sprint(a) != fmt.Sprint(b) {
		t.Errorf("two renderings of one model differ:\n%v\n%v", a, b)
	}
}

// A long message takes what room there is, and never that of the time.
func TestTheTimeHasAColumnOfItsOwn(t *testing.T) {
	s := &terminaltest.Script{}
	s.Step(0, "blueprint", v1.StepBegun, "", 0)
	s.Step(1*sc, "blueprint", v1.StepEnded, "data-science ← python-base ← platform-base ← base, 14 settings of its own",
		1)
	s.Step(1*sc, "install", v1.StepBegun, "", 0)
	s.Step(2*sc, "install", v1.StepEnded, "7 objects", 1)
	for width, cut := range map[int]bool{60: true, 80: true, 120: false} {
		lines := screen(s, 2*sc, width, terminaltest.PlainLook)[2:4]
		at := ansi.StringWidth(strings.TrimSuffix(lines[0], "1s"))
		if !strings.HasSuffix(lines[1], "  1s") || ansi.StringWidth(lines[1]) != at+2 {
			t.Errorf("%d columns: the times are not below each other:\n%s", width, style.JoinLines(lines))
		}
		if strings.Contains(lines[0], "…") != cut {
			t.Errorf("%d columns: cut %v, want %v: %s", width, !cut, cut, lines[0])
		}
	}
}

// An image is longer than a narrow terminal: what does not fit continues
// below, indented.
func TestALongWordKeepsTheIndent(t *testing.T) {
	image := "registry.example.com/a-team-with-a-long-name/and-an-image-to-match:2026.11.20-nightly"
	w := terminaltest.Workspace(v1.StageFailed, v1.Snapshot{Cause: &v1.Cause{Message: "image " + image + " not found"}})
	s := terminaltest.Ending(2*sc, "FAILED", 3,
		v1.Error{Message: "image " + image + " not found", Hint: image + " does not exist"}, &w)
	text := ""
	for _, line := range screen(s, time.Hour, 60, terminaltest.PlainLook)[7:] {
		if ansi.StringWidth(line) >= 60 || line != "" && !strings.HasPrefix(line, "  ") {
			t.Errorf("%q", line)
		}
		text += strings.TrimSpace(line)
	}
	if strings.Count(text, image) != 2 {
		t.Errorf("the image is not whole, twice: %s", text)
	}
}
