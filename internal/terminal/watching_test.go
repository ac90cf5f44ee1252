package terminal

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
)

// history is what a watched fleet goes through, one call of Changed each.
func history() [][]v1.Workspace {
	all := fleet().Items
	bob, slower := all[1], all[1]
	slower.Since = slower.Since.Add(time.Second) // says nothing new
	running := bob
	running.Stage, running.Status, running.Message = v1.StageRunning, v1.StatusRunning, ""
	gone := all[2]
	gone.Snapshot = v1.Snapshot{Stage: v1.StageUnknown, Status: v1.StatusUnknown, Gone: true, Message: "deleted", Since: now}
	long := all[0]
	long.ID, long.Owner = "a-longer-name-than-before-1a2b3c4", "a"
	return [][]v1.Workspace{all[:3], {slower}, {running, long}, {gone}}
}

// watched plays the history to what shows it.
func watched(t *testing.T, output string, v WatchView, play [][]v1.Workspace) string {
	t.Helper()
	s, b := Test("", now)
	w := Watch(s, format(t, output), v)
	for _, changed := range play {
		w.Changed(changed)
	}
	w.Interrupted(errors.New("connection refused"))
	w.Close()
	w.Changed(play[0])
	if got := b.Err.String(); got != "interrupted: connection refused; trying again\n" {
		t.Errorf("stderr has %q", got)
	}
	return b.Out.String()
}

func TestWatchRows(t *testing.T) {
	golden(t, "watch/rows.txt", watched(t, "text", WatchView{}, history()))
	golden(t, "watch/rows-wide.txt", watched(t, "wide", WatchView{List: List{Namespaces: true, NoHeaders: true}}, history()))
	golden(t, "watch/rows-events.txt", watched(t, "text", WatchView{One: true}, eventful()))
}

// eventful is one workspace whose events come one after the other.
func eventful() [][]v1.Workspace {
	one := withEvents()
	first, second := one, one
	first.Events, second.Events = one.Events[:1], one.Events[:2]
	return [][]v1.Workspace{{first}, {second}, {second}, {one}}
}

func TestWatchDocuments(t *testing.T) {
	for _, output := range []string{"json", "jsonl", "yaml", "name", "jsonpath={.id}: {.stage}", `go-template={{.id}}{{"\n"}}`} {
		name, _, _ := strings.Cut(output, "=")
		if name == "json" {
			name = "json.jsonl" // that is what it is
		}
		golden(t, "watch/documents."+name, watched(t, output, WatchView{}, history()[1:]))
	}
}

// On a terminal the list is redrawn in place, never wider or higher than it, and
// the last picture stays.
func TestWatchPicture(t *testing.T) {
	byName := func(ws []v1.Workspace) {
		slices.SortFunc(ws, func(a, b v1.Workspace) int { return strings.Compare(a.ID, b.ID) })
	}
	everything := func(v1.Workspace) bool { return true }
	for name, view := range map[string]WatchView{
		"picture": {Sort: byName, Keep: everything},
		"kept":    {Sort: byName, Keep: func(w v1.Workspace) bool { return w.Stage == v1.StagePulling || w.Stage == v1.StageFailed }},
		"one":     {One: true},
		"none":    {Sort: byName, Keep: func(v1.Workspace) bool { return false }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				vt := newVT(80, 12)
				s, _ := Test("", now)
				s.Out.Writer, s.Out.TTY, s.Out.Live = vt, true, true
				s.Out.Size = func() (int, int) { return 80, 12 }
				w := Watch(s, format(t, "text"), view)
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
				if vt.hidden || vt.wrapped > 0 || len(vt.unknown) > 0 {
					t.Errorf("cursor hidden %v, %d lines wrapped, unknown sequences %q", vt.hidden, vt.wrapped, vt.unknown)
				}
				golden(t, "watch/"+name+".txt", vt.text())
			})
		})
	}
}

// A list that is longer than the terminal says how much is not shown.
func TestWatchPictureOfMany(t *testing.T) {
	p := watchPicture{view: WatchView{Sort: func([]v1.Workspace) {}}, rows: map[string]v1.Workspace{}}
	p.s, _ = Test("", now)
	p.st = newStyles(p.s.Out.Capabilities)
	for i := range 5000 {
		p.rows[strings.Repeat("x", i)] = v1.Workspace{}
	}
	lines := p.lines(80, 24)
	if len(lines) != 23 || lines[22] != "… and 4979 more" {
		t.Errorf("%d lines, the last is %q", len(lines), lines[len(lines)-1])
	}
}

func withEvents() v1.Workspace {
	w := fleet().Items[2]
	w.Events = []v1.ObjectEvent{
		{Object: "pod/carol-9d4b2e6", Type: "Normal", Reason: "Scheduled", Message: "assigned to node-1", Count: 1, FirstAt: now.Add(-6 * time.Minute), At: now.Add(-6 * time.Minute)},
		{Object: "pod/carol-9d4b2e6:k8shell-main", Type: "Normal", Reason: "Pulled", Message: "already\npresent\x1b[2J", Count: 4, FirstAt: now.Add(-5 * time.Minute), At: now.Add(-2 * time.Minute)},
		{Object: "pod/carol-9d4b2e6:k8shell-main", Type: "Warning", Reason: "BackOff", Message: "Back-off restarting failed container", Count: 12, FirstAt: now.Add(-4 * time.Minute), At: now.Add(-20 * sc)},
	}
	return w
}

func TestStatusWithEvents(t *testing.T) {
	w := withEvents()
	w.Workload = "deployment/web"
	w.Replicas = []v1.Replica{{Name: "web-1", Stage: v1.StageFailed, Message: "exit code 1", Node: "node-1"}, {Name: "web-2", Stage: v1.StageRunning, Node: "node-2"}}
	golden(t, "status/events-pipe.txt", printed(t, "text", &w, 0, NoColour))
	golden(t, "status/events-80.txt", printed(t, "text", &w, 80, NoColour))
	golden(t, "status/events.json", printed(t, "json", &w, 0, NoColour))
}

func TestListLooks(t *testing.T) {
	s, b := Test("", now)
	if err := PrintList(s, format(t, "text"), fleet(), List{Namespaces: true}); err != nil {
		t.Fatal(err)
	}
	if err := PrintList(s, format(t, "text"), fleet(), List{NoHeaders: true}); err != nil {
		t.Fatal(err)
	}
	golden(t, "status/looks.txt", b.Out.String())
}
