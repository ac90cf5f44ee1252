package job

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	v1 "github.com/berthdev/berth/api/v1"
)

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

// The next ID follows the newest that is a number.
func TestNextID(t *testing.T) {
	for want, ids := range map[string][]string{
		"1": nil, "8": {"3", "7"}, "4": {"7", "3"}, "6": {"5", "x"},
		"3": {"x", "y"},
	} {
		var r Record
		for _, id := range ids {
			r.Events = append(r.Events, v1.JobEvent{ID: id})
		}
		if got := r.nextID(); got != want {
			t.Errorf("after %q: %s, want %s", ids, got, want)
		}
	}
}
