package job

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	v1 "github.com/berthdev/berth/api/v1"
)

func TestFold(t *testing.T) {
	backOff := func(second int, wait string, count int) v1.Event {
		e := object(second, "BackOff", "back-off "+wait, count)
		e.Object.Type = "Warning"
		return e
	}
	for name, c := range map[string]struct {
		events []v1.Event
		want   []string
	}{
		"stages are kept, each": {
			[]v1.Event{
				stage(0, v1.StageScheduling, ""), stage(1, v1.StageStarting, ""), stage(2, v1.StageScheduling, ""),
				stage(3, v1.StageRunning, "ready"),
			},
			[]string{
				"1 00 status|pod/alice-1|Provisioning|Scheduling", "2 01 status|pod/alice-1|Provisioning|Starting",
				"3 02 status|pod/alice-1|Provisioning|Scheduling", "4 03 status|pod/alice-1|Running|Running: ready",
			},
		},
		"a reading that says the same is not": {
			[]v1.Event{
				stage(0, v1.StagePulling, "dev:1"), stage(1, v1.StagePulling, "dev:1"),
				stage(2, v1.StagePulling, "dev:2"),
			},
			[]string{
				"1 00 status|pod/alice-1|Pulling|Pulling: dev:1",
				"2 02 status|pod/alice-1|Pulling|Pulling: dev:2",
			},
		},
		"a cause says more than a message": {
			[]v1.Event{{
				At: at(1), Workspace: "alice-1",
				Stage: &v1.Snapshot{
					Stage: v1.StageFailed, Status: v1.StatusFailing, Message: "x",
					Cause: &v1.Cause{Message: "no such image"},
				},
			}},
			[]string{"1 01 status|pod/alice-1|Failing|Failed: no such image"},
		},
		"a cause that only a person can change": {
			[]v1.Event{{
				At: at(1), Workspace: "alice-1",
				Stage: &v1.Snapshot{
					Stage: v1.StageScheduling, Status: v1.StatusProvisioning,
					Cause: &v1.Cause{Message: "no node", Stuck: true},
				},
			}},
			[]string{"1 01 status|pod/alice-1|Provisioning|Scheduling: no node (this will not resolve by itself)"},
		},
		"init scripts when they have ended": {
			[]v1.Event{
				{At: at(1), Script: &v1.Script{Name: "one", State: v1.ScriptRunning}},
				{At: at(2), Script: &v1.Script{Name: "one", State: v1.ScriptFailed, ExitCode: new(3)}},
				{At: at(3), Script: &v1.Script{Name: "two", State: v1.ScriptDone}},
			},
			[]string{
				"1 02 progress|initscript/one|failed|init script failed with exit code 3",
				"2 03 progress|initscript/two|done|init script",
			},
		},
		"events that are alike are counted as Kubernetes does": {
			[]v1.Event{backOff(0, "10s", 1), object(1, "Pulled", "in 1.5s", 1), backOff(20, "20s", 4)},
			[]string{
				"1 00 event|pod/alice-1|Warning|BackOff: back-off 20s (x4 over 20s)",
				"2 01 event|pod/alice-1|Normal|Pulled: in 1.5s",
			},
		},
		"another event of the same kind is one more": {
			[]v1.Event{object(0, "Pulled", "in 1.5s", 1), object(9, "Pulled", "in 2.5s", 1)},
			[]string{"1 00 event|pod/alice-1|Normal|Pulled: in 2.5s (x2 over 9s)"},
		},
		"a warning that is an event is not counted twice": {
			[]v1.Event{backOff(0, "10s", 1), warned(0, 1), backOff(5, "10s", 2), warned(5, 2)},
			[]string{"1 00 event|pod/alice-1|Warning|BackOff: back-off 10s (x2 over 5s)"},
		},
		"steps when they have ended, and remarks": {
			[]v1.Event{
				{At: at(0), Step: &v1.Step{Name: "install", State: v1.StepBegun}},
				{At: at(1), Step: &v1.Step{Name: "install", State: v1.StepEnded, Message: "7 objects"}},
				{At: at(2), Progress: &v1.Progress{Message: "connection lost"}},
				{At: at(9), Progress: &v1.Progress{Message: "connection lost"}},
			},
			[]string{"1 01 progress|install|ended|7 objects", "2 02 progress|||connection lost (x2 over 7s)"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := lines(fold(c.events...)); !slices.Equal(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

// In NATS there is an entry for each change of stage and each warning, and none twice. A record
// that comes to the cluster instead is folded there.
func TestApart(t *testing.T) {
	r := Record{apart: true}
	for _, e := range []v1.Event{
		stage(0, v1.StageScheduling, ""), stage(1, v1.StageScheduling, ""), warned(2, 1), stage(3, v1.StagePulling, ""),
		warned(4, 3),
		object(5, "Pulled", "in 1.5s", 1), object(6, "Pulled", "in 2.5s", 1), stage(7, v1.StageScheduling, ""),
		warned(8, 3), stage(9, v1.StageRunning, ""),
	} {
		if entry, repeat, ok := entryOf(e); ok {
			r = r.add(entry, repeat)
		}
	}
	want := []string{
		"1 00 status|pod/alice-1|Provisioning|Scheduling", "2 02 event|pod/alice-1|Warning|BackOff: back-off 10s",
		"3 03 status|pod/alice-1|Pulling|Pulling",
		"4 04 event|pod/alice-1|Warning|BackOff: back-off 10s (x3)", "5 05 event|pod/alice-1|Normal|Pulled: in 1.5s",
		"6 06 event|pod/alice-1|Normal|Pulled: in 2.5s (x2)",
		"7 07 status|pod/alice-1|Provisioning|Scheduling", "8 09 status|pod/alice-1|Running|Running",
	}
	if got := lines(r); !slices.Equal(got, want) {
		t.Errorf("apart:\n%s", strings.Join(got, "\n"))
	}
	again := Record{ID: "x", apart: true, Events: r.Events}
	taken := again.After(Record{ID: "x", Events: r.Events})
	taken.Events = slices.DeleteFunc(taken.Events, isStatus)
	if got := lines(taken); len(got) != 4 {
		t.Errorf("taken over:\n%s", strings.Join(got, "\n"))
	}
	want = []string{
		"1 00 status|pod/alice-1|Provisioning|Scheduling",
		"2 02 event|pod/alice-1|Warning|BackOff: back-off 10s (x3 over 2s)", "3 03 status|pod/alice-1|Pulling|Pulling",
		"4 05 event|pod/alice-1|Normal|Pulled: in 2.5s (x2 over 1s)", "5 07 status|pod/alice-1|Provisioning|Scheduling",
		"6 09 status|pod/alice-1|Running|Running",
	}
	if got := lines(r.folded()); !slices.Equal(got, want) {
		t.Errorf("folded:\n%s", strings.Join(got, "\n"))
	}
}

func warned(second, count int) v1.Event {
	return v1.Event{
		At:      at(second),
		Warning: &v1.Warning{Object: "pod/alice-1", Reason: "BackOff", Message: "back-off 10s", Count: count},
	}
}

// A message has 1024 bytes at most, whole characters, and says where it is cut.
func TestShort(t *testing.T) {
	for name, c := range map[string]struct{ message, want string }{
		"none":               {"", ""},
		"what fits":          {strings.Repeat("a", 1024), strings.Repeat("a", 1024)},
		"a byte more":        {strings.Repeat("a", 1025), strings.Repeat("a", 1021) + "…"},
		"a character in two": {strings.Repeat("a", 1020) + "éééé", strings.Repeat("a", 1020) + "…"},
		"not UTF-8":          {"a\xffb", "a\uFFFDb"},
	} {
		got := short(c.message)
		if got != c.want || !utf8.ValidString(got) || len(got) > 1024 {
			t.Errorf("%s: %d bytes, %q", name, len(got), got)
		}
	}
}

// The message of each entry is shortened, whatever it is of.
func TestMessagesOfEntries(t *testing.T) {
	long := strings.Repeat("a", 1025)
	for name, event := range map[string]v1.Event{
		"a stage":   stage(9, v1.StagePulling, long),
		"a warning": warning(9, "BackOff", long),
		"progress":  {At: at(9), Progress: &v1.Progress{Message: long}},
	} {
		if entry, _, ok := entryOf(event); !ok || len(entry.Message) > 1024 || !strings.HasSuffix(entry.Message, "a…") {
			t.Errorf("%s: %t, %d bytes", name, ok, len(entry.Message))
		}
	}
}

// What a record says something took is believed from nothing up to a year.
func TestSeconds(t *testing.T) {
	for says, want := range map[float64]time.Duration{
		-1: 0, 0: 0, 1.5: 1500 * time.Millisecond, 31_536_000: 8760 * time.Hour, 31_536_001: 8760 * time.Hour,
		1e300: 8760 * time.Hour,
	} {
		if got := seconds(says); got != want {
			t.Errorf("%g: %s, want %s", says, got, want)
		}
	}
}

// An entry says when something began, if that is known: a pull by its stage, a step by its end, a
// script by itself.
func TestWhenEntriesBegan(t *testing.T) {
	initializing := stage(9, v1.StageInitializing, "")
	initializing.Stage.Since = at(3)
	for name, c := range map[string]struct {
		event v1.Event
		began time.Time
		took  float64
	}{
		"a pull":        {pulling(9, 3), at(3), 0},
		"another stage": {initializing, time.Time{}, 0},
		"a step":        {step(9, "install", v1.StepEnded, 4), at(5), 4},
		"a script":      {scriptOf(9, "one", v1.ScriptDone, 2, 6), at(2), 6},
		"a warning":     {warning(9, "BackOff", ""), time.Time{}, 0},
	} {
		entry, _, ok := entryOf(c.event)
		if !ok || !entry.BeganAt.Equal(c.began) || entry.Seconds != c.took || !entry.Timestamp.Equal(at(9)) {
			t.Errorf("%s: %+v", name, entry)
		}
	}
	for name, e := range map[string]v1.Event{
		"a step that begins":  step(9, "install", v1.StepBegun, 0),
		"a script that runs":  scriptOf(9, "one", v1.ScriptRunning, 2, 0),
		"a result":            {At: at(9), Result: &v1.Result{}},
		"an event about none": {At: at(9)},
	} {
		if entry, _, ok := entryOf(e); ok {
			t.Errorf("%s has an entry: %+v", name, entry)
		}
	}
}

// What a count adds to a message is found again, and nothing else is taken for it.
func TestSplitCount(t *testing.T) {
	for message, want := range map[string]struct {
		bare  string
		count int
	}{
		"a (x3)":                    {"a", 3},
		"a (x3 over 1m20s)":         {"a", 3},
		"a":                         {"a", 1},
		"a (x3) b":                  {"a (x3) b", 1},
		"a (x3 over time)":          {"a (x3 over time)", 1},
		"a (x99999999999999999999)": {"a (x99999999999999999999)", 1},
	} {
		if bare, count := splitCount(message); bare != want.bare || count != want.count {
			t.Errorf("%q: %q, %d", message, bare, count)
		}
	}
	for over, want := range map[time.Duration]string{
		0: "a (x2)", 499 * time.Millisecond: "a (x2)", 500 * time.Millisecond: "a (x2 over 1s)",
		time.Hour: "a (x2 over 1h0m0s)", -time.Hour: "a (x2)",
	} {
		if got := countText("a", 2, over); got != want {
			t.Errorf("over %s: %q", over, got)
		}
	}
}
