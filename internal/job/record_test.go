package job

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/store"
)

var start = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func at(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }

func stage(second int, s v1.Stage, message string) v1.Event {
	return v1.Event{
		At: at(second), Workspace: "alice-1",
		Stage: &v1.Snapshot{Stage: s, Status: s.Status(), Message: message},
	}
}

func object(second int, reason, message string, count int) v1.Event {
	return v1.Event{
		At:     at(second),
		Object: &v1.ObjectEvent{Object: "pod/alice-1", Type: "Normal", Reason: reason, Message: message, Count: count},
	}
}

func fold(events ...v1.Event) (r Record) {
	for _, e := range events {
		if entry, repeat, ok := entryOf(e); ok {
			r = r.add(entry, repeat)
		}
	}
	return r
}

func lines(r Record) (lines []string) {
	for _, e := range r.Events {
		lines = append(lines, fmt.Sprintf("%s %s %s|%s|%s|%s", e.ID, e.Timestamp.Format("05"), e.Type, e.ObjectName,
			e.Status, e.Message))
	}
	return lines
}

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
			[]string{"1 00 status|pod/alice-1|Pulling|Pulling: dev:1", "2 02 status|pod/alice-1|Pulling|Pulling: dev:2"},
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

// Records are in NATS where that is said, or where it is configured and nothing else is said.
func TestUsesNATS(t *testing.T) {
	set := store.NATSConfig{URL: "nats://nats.example.com"}
	for kind, want := range map[StoreKind][2]bool{
		"": {false, true}, StoreAuto: {false, true}, StoreNATS: {true, true}, StoreCluster: {false, false},
		StoreNone: {false, false},
	} {
		if got := (Config{Store: kind}).UsesNATS(); got != want[0] {
			t.Errorf("%q, nothing configured: %t", kind, got)
		}
		if got := (Config{Store: kind, NATS: set}).UsesNATS(); got != want[1] {
			t.Errorf("%q: %t", kind, got)
		}
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

// A run that takes over a job sees the same events again.
func TestAfter(t *testing.T) {
	earlier := fold(stage(0, v1.StageScheduling, ""), object(1, "Created", "it", 3))
	later := fold(object(1, "Created", "it", 3), stage(5, v1.StageScheduling, ""), stage(6, v1.StageRunning, ""))
	earlier.ID, later.ID, later.Status = "x", "x", v1.JobStatusRunning
	want := []string{
		"1 00 status|pod/alice-1|Provisioning|Scheduling", "2 01 event|pod/alice-1|Normal|Created: it (x3)",
		"3 06 status|pod/alice-1|Running|Running",
	}
	if got := lines(later.After(earlier)); !slices.Equal(got, want) {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
}

// However long the job runs, the record fits, and no change of stage is missing.
func TestFit(t *testing.T) {
	var r Record
	long := strings.Repeat("<&>\"", 200)
	changes := 0
	for i := range 3000 {
		letters := string(rune('a'+i%26)) + string(rune('a'+i/26%26)) + string(rune('a'+i/676))
		r = r.add(v1.JobEvent{Type: v1.JobEventKubernetes, ObjectName: letters, Timestamp: at(i), Message: long}, oneMore)
		if i%100 == 0 {
			changes++
			r = r.add(v1.JobEvent{
				Type: v1.JobEventStatus, Timestamp: at(i),
				Message: []string{"Scheduling", "Starting"}[changes%2],
			}, oneMore)
		}
		if i%50 == 0 {
			r = r.Fit(MaxSize)
		}
	}
	r = r.append(v1.JobEvent{Type: v1.JobEventProgress, ObjectName: resultName, Status: StatusOK}).Fit(MaxSize)
	text, err := r.Encode()
	if err != nil || len(text) > 512<<10 {
		t.Fatalf("%d bytes, %v", len(text), err)
	}
	ids, left, stages, kept := map[string]bool{}, 0, 0, 0
	for _, e := range r.Events {
		if ids[e.ID] {
			t.Errorf("the ID %s is there twice", e.ID)
		}
		ids[e.ID] = true
		switch {
		case e.ObjectName == leftOutName:
			_, _ = fmt.Sscanf(e.Message, leftOutText, &left)
		case e.Type == v1.JobEventStatus:
			stages++
		case e.Type == v1.JobEventKubernetes:
			kept++
		}
	}
	if stages != changes || left+kept != 3000 || r.code() != "" {
		t.Errorf("%d of %d stages, %d left out, %d kept", stages, changes, left, kept)
	}
	if tiny := r.Fit(3000); len(tiny.Events) != changes+2 {
		t.Errorf("in no room at all there are %d entries, not the stages and the result", len(tiny.Events))
	}
}

// The stored form is a contract.
func TestJSON(t *testing.T) {
	r := fold(stage(0, v1.StageRunning, "ready"))
	r.ID, r.WorkspaceName, r.Username, r.Status, r.CreatedAt, r.UpdatedAt = "5f0c", "alice-1", "alice",
		v1.JobStatusRunning, at(0), at(1)
	text, err := r.Encode()
	want := `{"id":"5f0c","workspaceName":"alice-1","username":"alice","status":"running","createdAt":"2026-11-20T12:00:00Z",` +
		`"updatedAt":"2026-11-20T12:00:01Z","finishedAt":null,"events":[{"id":"1","type":"status","timestamp":"2026-11-20T12:00:00Z",` +
		`"objectName":"pod/alice-1","message":"Running: ready","status":"Running"}]}`
	if err != nil || string(text) != want {
		t.Errorf("%s, %v", text, err)
	}
	again, err := Decode(r.ID, text)
	if encoded, _ := again.Encode(); err != nil || string(encoded) != want {
		t.Errorf("read again: %s, %v", encoded, err)
	}
}

func TestState(t *testing.T) {
	completed := func(code string) Record {
		return Record{
			Status: v1.JobStatusCompleted, UpdatedAt: at(0),
			Events: []v1.JobEvent{{Type: v1.JobEventProgress, ObjectName: resultName, Status: code, Message: "why"}},
		}
	}
	starting := func(r Record) Record {
		return r.append(v1.JobEvent{Type: v1.JobEventStatus, Message: "Scheduling"})
	}
	foreign := func(status, message string) Record {
		return Record{
			Status: v1.JobStatusCompleted,
			Events: []v1.JobEvent{{Type: v1.JobEventStatus, Status: status, Message: message}},
		}
	}
	for name, c := range map[string]struct {
		r    Record
		want v1.JobState
		code fault.Code
	}{
		"running": {Record{Status: v1.JobStatusRunning, UpdatedAt: at(3590)}, v1.JobRunning, ""},
		"no sign of life": {
			Record{Status: v1.JobStatusRunning, UpdatedAt: at(3500)},
			v1.JobInterrupted,
			fault.Unavailable,
		},
		"ready": {completed(StatusOK), v1.JobSucceeded, ""},
		"of a run that was killed": {
			Record{Status: v1.JobStatusRunning, UpdatedAt: at(3590), abandoned: true},
			v1.JobInterrupted, fault.Unavailable,
		},
		"created, not followed":       {starting(completed(StatusOK)), v1.JobCreated, ""},
		"failed":                      {completed("FAILED"), v1.JobFailed, fault.Failed},
		"timed out":                   {completed("DEADLINE_EXCEEDED"), v1.JobFailed, fault.DeadlineExceeded},
		"Ctrl-C":                      {completed("INTERRUPTED"), v1.JobInterrupted, fault.Interrupted},
		"of another program, ready":   {foreign("Running", "all containers are ready"), v1.JobSucceeded, ""},
		"of another program, failing": {foreign("Failing", "pull failed"), v1.JobFailed, fault.Failed},
	} {
		if got := c.r.State(at(3600)); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		if got := fault.CodeOf(c.r.Err(at(3600))); got != c.code {
			t.Errorf("%s: %s, want %s", name, got, c.code)
		}
	}
}

func TestProblems(t *testing.T) {
	for name, c := range map[string]struct {
		config Config
		want   []string
	}{
		"nothing": {Config{}, nil},
		"a URL":   {Config{NATS: store.NATSConfig{URL: "nats://a:4222,tls://b"}}, nil},
		"all at once": {
			Config{Store: "redis", Retention: "-1s", NATS: store.NATSConfig{Password: "x"}},
			[]string{`jobs.store "redis": must be one of`, `jobs.retention "-1s": must be a duration`, "jobs.nats.password"},
		},
		"nats without NATS": {
			Config{Store: StoreNATS},
			[]string{"jobs.store nats requires jobs.nats.url or jobs.nats.service"},
		},
		"a retention of less": {Config{Retention: "59s"}, []string{"jobs.retention"}},
		"one of centuries":    {Config{Retention: "2000000h"}, []string{"jobs.retention"}},
	} {
		got := c.config.Problems()
		if len(got) != len(c.want) {
			t.Errorf("%s: %q", name, got)
			continue
		}
		for i, want := range c.want {
			if !strings.Contains(got[i], want) {
				t.Errorf("%s: %q is not about %q", name, got[i], want)
			}
		}
	}
}

// Of a record in which nothing may go, nothing goes: neither of one that is empty, nor of one in
// which it has been noted before that entries are left out.
func TestTrimOfNothing(t *testing.T) {
	note := v1.JobEvent{Type: v1.JobEventProgress, ObjectName: leftOutName, Message: fmt.Sprintf(leftOutText, 7)}
	for _, events := range [][]v1.JobEvent{nil, {note}} {
		r, ok := Record{ID: "x", Events: events}.trim(isEventOrStep)
		if ok || len(r.Events) != len(events) || len(events) > 0 && r.Events[0].Message != note.Message {
			t.Errorf("of %+v: %+v, %t", events, r.Events, ok)
		}
	}
}
