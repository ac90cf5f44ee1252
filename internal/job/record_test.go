package job

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

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
		r = r.add(v1.JobEvent{Type: v1.JobEventKubernetes, ObjectName: letters, Timestamp: at(i), Message: long},
			oneMore)
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
	want := `{"id":"5f0c","workspaceName":"alice-1","username":"alice","status":"running",` +
		`"createdAt":"2026-11-20T12:00:00Z","updatedAt":"2026-11-20T12:00:01Z","finishedAt":"0001-01-01T00:00:00Z",` +
		`"events":[{"id":1,"type":"status","timestamp":"2026-11-20 12:00:00","objectName":"alice-1",` +
		`"message":"Running: ready","status":"Running","berth":{"at":"2026-11-20T12:00:00Z"}}]}`
	if err != nil || string(text) != want {
		t.Errorf("%s, %v", text, err)
	}
	again, err := Decode(r.ID, text)
	if encoded, _ := again.Encode(); err != nil || string(encoded) != want {
		t.Errorf("read again: %s, %v", encoded, err)
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

// damaged are records that cannot be read, and what is said of them.
func damaged() map[string]struct{ text, says string } {
	return map[string]struct{ text, says string }{
		"nothing":       {"", "not JSON"},
		"null":          {"null", "it is not about this job"},
		"nothing in it": {"{}", "it is not about this job"},
		"cut off":       {`{"id":"x","eve`, "not JSON"},
		"a list":        {"[]", "not JSON of a record"},
		"another job":   {`{"id":"y"}`, "it is not about this job"},
		"huge":          {`{"id":"x","username":"` + strings.Repeat("a", maxRead) + `"}`, "larger than 1024 KiB"},
		"many entries": {
			`{"id":"x","events":[` + strings.Repeat("{},", maxEntries) + `{}]}`,
			"more than 10000 entries",
		},
		"an odd time":    {`{"id":"x","updatedAt":"9999-12-31T23:59:59-14:00"}`, "out of range"},
		"no time":        {`{"id":"x","updatedAt":"yesterday"}`, "not JSON of a record"},
		"a nested thing": {strings.Repeat("[", 100_000), "not JSON"},
	}
}

// A record that cannot be read is an error that says how to get rid of it, hides no
// other, and does not keep the next run of the job from writing its own.
func TestDamagedRecords(t *testing.T) {
	for name, test := range damaged() {
		s := &Stores{cluster: configMaps(fake.NewClientset(&corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{
				Name: "k8shell-job-x", Namespace: "team",
				Labels: map[string]string{"k8shell.io/job-id": "x", LabelExpires: "99999999999"},
			},
			Data: map[string]string{"record": test.text},
		}), "team", Retention, time.Now)}
		if err := put(t.Context(), s.cluster, Record{ID: "good"}); err != nil {
			t.Fatal(err)
		}
		_, err := s.Get(t.Context(), "x")
		if fault.CodeOf(err) != fault.Failed || fault.ReasonOf(err) != ReasonUnreadable ||
			!strings.Contains(err.Error(), "record of job x cannot be read: ") ||
			!strings.Contains(err.Error(), test.says) ||
			!strings.Contains(fault.From(err).Hint, "kubectl delete configmap k8shell-job-x --namespace team") {
			t.Errorf("%s: %v", name, err)
		}
		if all, _, err := s.List(t.Context()); err != nil || len(all) != 1 || all[0].ID != "good" {
			t.Errorf("%s: %+v, %v", name, all, err)
		}
		r := &Recorder{stores: s, resumed: true}
		if record, err := r.resume(t.Context(), Record{ID: "x", Username: "alice"}, s.cluster); err != nil ||
			record.Username != "alice" {
			t.Errorf("%s: %+v, %v", name, record, err)
		}
	}
	if hint := howToDelete(&store.Bucket{}, "x"); hint != "delete it: nats kv del workspace-provision-jobs x" {
		t.Error(hint)
	}
}

// Whatever is read can be continued, printed and written again.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"id":"x","events":[{"message":"a (x3 over 2s)","type":"event"}]}`))
	f.Add([]byte(`{"id":"x","events":[{"id":"9223372036854775807","message":"a ` +
		`(x9223372036854775807)","type":"status","objectName":"result","status":"Y"}]}`))
	f.Add([]byte(`{"id":"x","status":"completed","finishedAt":"9999-12-31T23:59:59-14:00",` +
		`"updatedAt":"0000-01-01T00:00:00+14:00"}`))
	for _, d := range damaged() {
		if len(d.text) < 1000 {
			f.Add([]byte(d.text))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := Decode("x", text)
		if err != nil {
			if fault.ReasonOf(err) != ReasonUnreadable {
				t.Errorf("%v", err)
			}
			return
		}
		r = r.After(r).add(v1.JobEvent{Type: v1.JobEventKubernetes, Message: "more"}, oneMore)
		if _, err := json.Marshal(r.Document(start)); err != nil {
			t.Errorf("it cannot be printed: %v", err)
		}
		_ = r.Err(start)
		if _, err := r.Fit(1000).Encode(); err != nil {
			t.Error(err)
		}
	})
}

// A record that is just within the bounds is read.
func TestLargestRecord(t *testing.T) {
	for name, text := range map[string]string{
		"entries": `{"id":"x","events":[` + strings.Repeat("{},", 9_999) + `{}]}`,
		"bytes":   `{"id":"x","username":"` + strings.Repeat("a", 1<<20-len(`{"id":"x","username":""}`)) + `"}`,
	} {
		if r, err := Decode("x", []byte(text)); err != nil || r.ID != "x" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What may be left out first: events and steps, and then readings of a stage that was reached
// before; never what has been noted of that, a change of stage or the result, whatever it says.
func TestWhatMayBeLeftOut(t *testing.T) {
	entries := []v1.JobEvent{
		{ID: "begins", Type: v1.JobEventStatus, Message: "Starting: a"},
		{ID: "reads", Type: v1.JobEventStatus, Message: "Starting: b"},
		{ID: "event", Type: v1.JobEventKubernetes, ObjectName: "pod/a", Message: "Starting: c"},
		{ID: "step", Type: v1.JobEventProgress, ObjectName: "install", Message: "Starting"},
		{ID: "note", Type: v1.JobEventProgress, ObjectName: leftOutName, Message: "Starting"},
		{ID: "reads again", Type: v1.JobEventStatus, Message: "Starting: d"},
		{ID: "changes", Type: v1.JobEventStatus, Message: "Running"},
		{ID: "goes back", Type: v1.JobEventStatus, Message: "Starting"},
		{ID: "result", Type: v1.JobEventProgress, ObjectName: resultName, Message: "Starting"},
	}
	for name, c := range map[string]struct {
		may  func([]v1.JobEvent, int) bool
		want []string
	}{
		"first": {isEventOrStep, []string{"event", "step"}}, "then": {isSameStage, []string{"reads", "reads again"}},
	} {
		var got []string
		for i := range entries {
			if c.may(entries, i) {
				got = append(got, entries[i].ID)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// A quarter of what may go is left out at a time, the oldest of it, and counted with what was left
// out before.
func TestTrim(t *testing.T) {
	for n, left := range map[int]int{1: 0, 4: 3, 5: 3, 8: 6, 9: 6} {
		var r Record
		for i := range n {
			r.Events = append(r.Events, v1.JobEvent{ID: fmt.Sprint(i + 1), Type: v1.JobEventKubernetes})
		}
		for _, before := range []int{0, 7} {
			if before > 0 {
				r.Events = append([]v1.JobEvent{{
					ID: "0", ObjectName: leftOutName,
					Message: fmt.Sprintf(leftOutText, before),
				}},
					r.Events...)
			}
			got, ok := r.trim(isEventOrStep)
			if !ok || len(got.Events) != left+1 || got.Events[0].Message != fmt.Sprintf(leftOutText, before+n-left) ||
				got.Events[0].ObjectName != leftOutName {
				t.Errorf("%d: %+v", n, got.Events)
			}
		}
	}
}

// A record that grows does not change those that it was made of.
func TestRecordsShareNothing(t *testing.T) {
	before := fold(object(0, "Pulled", "in 1.5s", 1), stage(1, v1.StageStarting, ""))
	want := lines(before)
	for _, e := range []v1.Event{
		object(2, "Pulled", "in 2.5s", 1), stage(3, v1.StageRunning, ""),
		object(4, "Created", "", 1),
	} {
		entry, repeat, _ := entryOf(e)
		if after := before.add(entry, repeat); slices.Equal(lines(after), want) {
			t.Errorf("%+v is not added", e)
		}
	}
	if got := lines(before); !slices.Equal(got, want) {
		t.Errorf("it has become %q", got)
	}
}

// A run that takes over a job in NATS goes on keeping what is alike one by one.
func TestAfterApart(t *testing.T) {
	earlier, later := fold(warned(0, 1)), Record{ID: "x", apart: true}
	earlier.ID = "x"
	entry, repeat, _ := entryOf(warned(5, 2))
	later = later.add(entry, repeat)
	want := []string{
		"1 00 event|pod/alice-1|Warning|BackOff: back-off 10s",
		"2 05 event|pod/alice-1|Warning|BackOff: back-off 10s (x2)",
	}
	if got := lines(later.After(earlier)); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if got := later.After(Record{}); got.ID != "x" || len(got.Events) != 1 {
		t.Errorf("after none: %+v", got)
	}
}

// What the newer run knows of the workspace counts, and else what the earlier one knew; a cause is
// that of now.
func TestAfterKnowsTheWorkspace(t *testing.T) {
	earlier := Record{
		ID: "x", Blueprint: "old", Node: "old", Image: "old", Cause: "old", Username: "old",
		WorkspaceName: "old", UserString: "old",
	}
	for want, later := range map[string]Record{
		"[old old old  new new new]":        {},
		"[dev node-1 dev:1 it new new new]": {Blueprint: "dev", Node: "node-1", Image: "dev:1", Cause: "it"},
	} {
		later.ID, later.Username, later.WorkspaceName, later.UserString = "x", "new", "new", "new"
		got := later.After(earlier)
		if all := fmt.Sprint([]string{
			got.Blueprint, got.Node, got.Image, got.Cause, got.Username, got.WorkspaceName,
			got.UserString,
		}); all != want {
			t.Errorf("%s, want %s", all, want)
		}
	}
}
