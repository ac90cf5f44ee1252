package live

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/berthdev/berth/internal/goldentest"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/terminaltest"
)

func TestBatchFrames(t *testing.T) {
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
				for _, at := range []time.Duration{20 * ms, 300 * ms, 2 * sc, 6 * sc, 30 * sc, time.Hour} {
					fmt.Fprintf(&b, "--- %s\n%s", at, style.JoinLines(screenful(terminaltest.Team(), at, width, 50,
						l.look)))
				}
				goldentest.Check(t, fmt.Sprintf("batch/%s-%d.txt", l.name, width), terminaltest.Visible(b.String()))
			})
		}
	}
}

func TestBatchEndings(t *testing.T) {
	all := terminaltest.BatchOf(4)
	all.Add(terminaltest.Member("alice", "dev"), 0, terminaltest.Succeeding())
	all.Add(terminaltest.Member("bob", "dev"), 0, terminaltest.Succeeding())
	for name, b := range map[string]*terminaltest.Many{
		"interrupted": terminaltest.Broken(),
		"stranded":    terminaltest.Stranded(), "running": all.End(),
	} {
		goldentest.Check(t, "batch/"+name+".txt",
			style.JoinLines(screenful(b, time.Hour, 100, 50, terminaltest.PlainLook)))
	}
}

// Where not all rows fit, the unfinished are shown first, and the others counted.
func TestBatchFitsTheHeight(t *testing.T) {
	b := wave(60, 4)
	at := 9 * 22 * sc
	goldentest.Check(t, "batch/folded.txt", style.JoinLines(screenful(b, at, 80, 12, terminaltest.PlainLook)))
	for height := 2; height < 70; height++ {
		c := batchOf(b, at)
		p := c.picture(view{Page: style.Page{
			Width: 80, Now: terminaltest.T0.Add(at),
			Styles: terminaltest.PlainLook.Styles(),
		}, height: height, headed: true})
		if len(p.live) >= height {
			t.Fatalf("%d lines in %d rows", len(p.live), height)
		}
		text := style.JoinLines(p.live)
		folded := height <= 60+2
		if strings.Contains(text, " more: ") != (folded && height > 3) {
			t.Errorf("height %d: folded %v, but:\n%s", height, folded, text)
		}
		if height >= 8 {
			for i := 36; i < 40; i++ {
				if name := fmt.Sprintf("user-%03d", i); !strings.Contains(text, name) {
					t.Errorf("height %d: %s is in progress but not shown:\n%s", height, name, text)
				}
			}
		}
	}
	// At the end, all of them stay.
	end := style.JoinLines(screenful(b, time.Hour*2, 80, 12, terminaltest.PlainLook))
	for i := range 60 {
		if name := fmt.Sprintf("user-%03d", i); !strings.Contains(end, name) {
			t.Errorf("%s is lost at the end", name)
		}
	}
}

func TestNoRowIsAsWideAsTheTerminal(t *testing.T) {
	for width := 1; width <= 210; width++ {
		for _, at := range []time.Duration{20 * ms, 6 * sc, 30 * sc} {
			for _, look := range []terminal.Capabilities{
				terminaltest.PlainLook, terminaltest.ColourLook,
				terminaltest.AsciiLook,
			} {
				for _, line := range screenful(terminaltest.Team(), at, width, 50, look) {
					if got := ansi.StringWidth(line); got >= width && got > 0 {
						t.Fatalf("width %d at %s: %d columns: %q", width, at, got, line)
					}
				}
			}
		}
	}
}
