package watching

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/goldentest"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/result"
	"github.com/berthdev/berth/internal/terminal/terminaltest"
)

// history is what a watched fleet goes through, one call of Changed each.
func history() [][]v1.Workspace {
	all := terminaltest.Fleet().Items
	bob, slower := all[1], all[1]
	slower.Since = slower.Since.Add(time.Second) // says nothing new
	running := bob
	running.Stage, running.Status, running.Message = v1.StageRunning, v1.StatusRunning, ""
	gone := all[2]
	gone.Snapshot = v1.Snapshot{
		Stage: v1.StageUnknown, Status: v1.StatusUnknown, Gone: true, Message: "deleted",
		Since: terminaltest.Now,
	}
	long := all[0]
	long.ID, long.Owner = "a-longer-name-than-before-1a2b3c4", "a"
	return [][]v1.Workspace{all[:3], {slower}, {running, long}, {gone}}
}

// watched plays the history to what shows it.
func watched(t *testing.T, output string, v View, play [][]v1.Workspace) string {
	t.Helper()
	s, b := terminal.Test("", terminaltest.Now)
	w := New(s, format(t, output), v)
	for _, changed := range play {
		w.Changed(changed)
	}
	w.Interrupted(errors.New("connection refused"))
	w.Close()
	w.Changed(play[0])
	if got := b.Err.String(); got != "connection lost, retrying: connection refused\n" {
		t.Errorf("stderr has %q", got)
	}
	return b.Out.String()
}

func TestWatchRows(t *testing.T) {
	goldentest.Check(t, "watch/rows.txt", watched(t, "text", View{}, history()))
	goldentest.Check(t, "watch/rows-wide.txt",
		watched(t, "wide", View{Table: result.Table{Namespaces: true, NoHeaders: true}}, history()))
	goldentest.Check(t, "watch/rows-events.txt", watched(t, "text", View{One: true}, eventful()))
}

// eventful is one workspace whose events come one after the other.
func eventful() [][]v1.Workspace {
	one := terminaltest.WithEvents()
	first, second := one, one
	first.Events, second.Events = one.Events[:1], one.Events[:2]
	return [][]v1.Workspace{{first}, {second}, {second}, {one}}
}

func TestWatchDocuments(t *testing.T) {
	for _, output := range []string{
		"json", "jsonl", "yaml", "name", "jsonpath={.id}: {.stage}",
		`go-template={{.id}}{{"\n"}}`,
	} {
		name, _, _ := strings.Cut(output, "=")
		if name == "json" {
			name = "json.jsonl" // that is what it is
		}
		goldentest.Check(t, "watch/documents."+name, watched(t, output, View{}, history()[1:]))
	}
}

// On a terminal the list is redrawn in place, never wider or higher than it, and
// the last picture stays.
func TestWatchPicture(t *testing.T) {
	byName := func(ws []v1.Workspace) {
		slices.SortFunc(ws, func(a, b v1.Workspace) int { return strings.Compare(a.ID, b.ID) })
	}
	everything := func(v1.Workspace) bool { return true }
	for name, view := range map[string]View{
		"picture": {Sort: byName, Keep: everything},
		"kept": {Sort: byName, Keep: func(w v1.Workspace) bool {
			return w.Stage == v1.StagePulling ||
				w.Stage == v1.StageFailed
		}},
		"one":  {One: true},
		"none": {Sort: byName, Keep: func(v1.Workspace) bool { return false }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				vt := terminaltest.NewVT(80, 12)
				s, _ := terminal.Test("", terminaltest.Now)
				s.Out.Writer, s.Out.TTY, s.Out.Live = vt, true, true
				s.Out.Size = func() (int, int) { return 80, 12 }
				w := New(s, format(t, "text"), view)
				play := history()
				if view.One {
					play = eventful()
				}
				for _, changed := range play {
					w.Changed(changed)
					time.Sleep(300 * time.Millisecond)
				}
				w.Interrupted(errors.New("connection refused"))
				time.Sleep(time.Second)
				w.Close()
				w.Close()
				if vt.Hidden || vt.Wrapped > 0 || len(vt.Unknown) > 0 {
					t.Errorf("cursor hidden %v, %d lines wrapped, unknown sequences %q", vt.Hidden, vt.Wrapped,
						vt.Unknown)
				}
				goldentest.Check(t, "watch/"+name+".txt", vt.Text())
			})
		})
	}
}

// A list that is longer than the terminal says how much is not shown.
func TestWatchPictureOfMany(t *testing.T) {
	p := picture{view: View{Sort: func([]v1.Workspace) {}}, rows: map[string]v1.Workspace{}}
	p.s, _ = terminal.Test("", terminaltest.Now)
	for i := range 5000 {
		p.rows[strings.Repeat("x", i)] = v1.Workspace{}
	}
	lines := p.lines(80, 24)
	if len(lines) != 23 || lines[22] != "… and 4979 more" {
		t.Errorf("%d lines, the last is %q", len(lines), lines[len(lines)-1])
	}
}

func format(t *testing.T, s string) printer.Format {
	t.Helper()
	f, err := printer.ParseFormat(s)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
