package live

import (
	"fmt"
	"strings"
	"testing"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/goldentest"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/terminaltest"
)

func TestReplicaFrames(t *testing.T) {
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
			var b strings.Builder
			for _, at := range []time.Duration{1 * sc, 5 * sc, time.Hour} {
				fmt.Fprintf(&b, "--- %s\n%s", at, style.JoinLines(screen(terminaltest.Rollout(), at, width, l.look)))
			}
			fmt.Fprintf(&b, "--- many\n%s", style.JoinLines(screen(fleetOf(24), 5*sc, width, l.look)))
			goldentest.Check(t, fmt.Sprintf("replicas/%s-%d.txt", l.name, width), terminaltest.Visible(b.String()))
		}
	}
}

// The lines of the replicas leave room for the others, whatever the height is.
func TestReplicasFitTheHeight(t *testing.T) {
	s := fleetOf(24)
	warning := terminaltest.Unschedulable(2, 4*sc)
	s.Add(4*sc, v1.Event{Warning: &warning})
	for height := 4; height < 40; height++ {
		v := view{
			Page:   style.Page{Width: 80, Now: terminaltest.T0.Add(5 * sc), Styles: terminaltest.PlainLook.Styles()},
			height: height, headed: true, written: 3,
		}
		live := singleOf(s, 5*sc).picture(v).live
		text := style.JoinLines(live)
		if len(live) >= height || !strings.Contains(text, "Pulling  ") && height > 4 ||
			!strings.Contains(text, "FailedScheduling") || !strings.Contains(text, "more: ") {
			t.Errorf("height %d:\n%s", height, text)
		}
	}
}

func TestFoldReplicas(t *testing.T) {
	rs := terminaltest.Replicas(v1.StageRunning, v1.StagePulling, v1.StageRunning, v1.StageFailed, v1.StageRunning)
	for room, want := range map[int]string{
		9: "00 01 02 03 04", 5: "00 01 02 03 04", // all of them, in their order
		4: "03 01 00 | 2 Running", 3: "03 01 | 3 Running", 2: "03 | 3 Running, 1 Pulling",
		1: " | 3 Running, 1 Pulling, 1 Failed",
	} {
		shown, rest := foldReplicas(rs, room)
		var names []string
		for _, r := range shown {
			names = append(names, r.Name[len(r.Name)-4:len(r.Name)-2])
		}
		got := strings.Join(names, " ")
		if len(rest) > 0 {
			got += " | " + stageCounts(rest)
		}
		if got != want {
			t.Errorf("room %d: got %q, want %q", room, got, want)
		}
	}
}
