package job

import (
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
)

// theirRecord is a record as k8shell's API server and its command line decode it: with a number for an entry's ID, a
// time of day without a zone, and the zero time for a job that has not ended.
type theirRecord struct {
	ID            string    `json:"id"`
	WorkspaceName string    `json:"workspaceName"`
	Username      string    `json:"username"`
	Status        string    `json:"status"`
	CreatedAt     time.Time `json:"createdAt"`
	UpdatedAt     time.Time `json:"updatedAt"`
	FinishedAt    time.Time `json:"finishedAt"`
	Events        []struct {
		ID         int    `json:"id"`
		Type       string `json:"type"`
		Timestamp  string `json:"timestamp"`
		ObjectName string `json:"objectName"`
		Message    string `json:"message"`
		Status     string `json:"status"`
	} `json:"events"`
}

// everyEntry is one of each kind of entry that berth writes.
func everyEntry() []v1.JobEvent {
	entry := func(second int, kind v1.JobEventType, object, status, message string) v1.JobEvent {
		return v1.JobEvent{Timestamp: at(second), Type: kind, ObjectName: object, Status: status, Message: message}
	}
	step := entry(1, v1.JobEventProgress, "apply objects", string(v1.StepEnded), "7 objects")
	step.BeganAt, step.Seconds = at(0), 0.731
	pulling := entry(3, v1.JobEventStatus, "pod/alice-1", "Pulling", "Pulling: image busybox")
	pulling.BeganAt = at(2)
	all := []v1.JobEvent{
		step,
		entry(2, v1.JobEventStatus, "pod/alice-1", "Provisioning", "Scheduling: no node yet"),
		pulling,
		entry(4, v1.JobEventKubernetes, "pod/alice-1:main", "Normal", "Pulled: it is there (x2 over 3s)"),
		entry(4, v1.JobEventKubernetes, "persistentvolumeclaim/home", "Warning", "ProvisioningFailed: no class"),
		entry(4, v1.JobEventKubernetes, "node/n1", "Warning", "NodeNotReady: gone"),
		entry(5, v1.JobEventStatus, "pod/alice-1", "Provisioning", "Initializing"),
		entry(6, v1.JobEventProgress, "initscript/tools", string(v1.ScriptDone), "init script"),
		entry(7, v1.JobEventProgress, leftOutName, "", "entries omitted: 4"),
		entry(8, v1.JobEventStatus, "pod/alice-1", "Running", "Running"),
		entry(9, v1.JobEventStatus, "pod/alice-1", "Failing", "Failed: it ended"),
		entry(9, v1.JobEventProgress, resultName, "FAILED_PRECONDITION", "it ended"),
		entry(10, v1.JobEventProgress, resultName, StatusOK, ""),
	}
	all[1].Timestamp = all[1].Timestamp.Add(123456789) // nothing of a time is lost
	for i := range all {
		all[i].ID = strconv.Itoa(i + 1)
	}
	return all
}

func everyRecord() Record {
	ended := at(10)
	return Record{
		ID: "5f0c", WorkspaceName: "alice-1", UserString: "alice~dev", Username: "alice", Status: v1.JobStatusCompleted,
		CreatedAt: at(0), UpdatedAt: at(10), FinishedAt: &ended, Events: everyEntry(), Blueprint: "dev", Node: "n1",
		Image: "busybox", Cause: "IMAGE_NOT_FOUND",
	}
}

// k8shell's programs read what berth writes: numbers, times, names and words.
func TestOursIsReadByTheirs(t *testing.T) {
	text, err := everyRecord().Encode()
	if err != nil {
		t.Fatal(err)
	}
	var r theirRecord
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	type row [5]string
	want := []row{
		{"progress", "2026-11-20 12:00:01", "apply objects", "0", "0% complete"},
		{"status", "2026-11-20 12:00:02", "alice-1", "Starting", "Scheduling: no node yet"},
		{"status", "2026-11-20 12:00:03", "alice-1", "Pulling", "Pulling: image busybox"},
		{"event", "2026-11-20 12:00:04", "Pod/alice-1:main", "Normal", "Pulled: it is there (x2 over 3s)"},
		{"event", "2026-11-20 12:00:04", "PersistentVolumeClaim/home", "Warning", "ProvisioningFailed: no class"},
		{"event", "2026-11-20 12:00:04", "node/n1", "Warning", "NodeNotReady: gone"},
		{"status", "2026-11-20 12:00:05", "alice-1", "Starting", "Initializing"},
		{"progress", "2026-11-20 12:00:06", "initscript/tools", "60", "60% complete"},
		{"progress", "2026-11-20 12:00:07", "record", "60", "60% complete"},
		{"status", "2026-11-20 12:00:08", "alice-1", "Running", "Running"},
		{"status", "2026-11-20 12:00:09", "alice-1", "Failing", "Failed: it ended"},
		{"status", "2026-11-20 12:00:09", "alice-1", "Error", "it ended"},
		{"progress", "2026-11-20 12:00:10", "result", "100", "100% complete"},
	}
	for i, e := range r.Events {
		if _, err := time.Parse(time.DateTime, e.Timestamp); err != nil {
			t.Error(err)
		}
		if got := (row{e.Type, e.Timestamp, e.ObjectName, e.Status, e.Message}); got != want[i] || e.ID != i+1 {
			t.Errorf("entry %d has the ID %d and is\n%q, not\n%q", i+1, e.ID, got, want[i])
		}
	}
	if !r.FinishedAt.Equal(at(10)) || r.Status != "completed" || r.WorkspaceName != "alice-1" {
		t.Errorf("%+v", r)
	}
	running := Record{ID: "a", Status: v1.JobStatusRunning}
	if text, err = running.Encode(); err != nil {
		t.Fatal(err)
	}
	r = theirRecord{}
	if err := json.Unmarshal(text, &r); err != nil || !r.FinishedAt.IsZero() || r.Events == nil {
		t.Errorf("%s, %v", text, err)
	}
}

// Nothing that berth knows is lost in k8shell's form.
func TestOursIsReadByOurs(t *testing.T) {
	want := everyRecord()
	text, err := want.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decode(want.ID, text)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v\n%+v, not\n%+v", err, got, want)
	}
}

// A record as k8shell's provisioner writes it, on a node whose clock shows the time of Berlin.
const theirs = `{"id":"0c8f","workspaceName":"alice-6d1c2a0","username":"alice","status":"completed",
"createdAt":"2026-11-20T12:00:00.5Z","updatedAt":"2026-11-20T12:00:31Z","finishedAt":"2026-11-20T12:00:31Z","events":[
{"id":1,"type":"status","timestamp":"2026-11-20 13:00:01","objectName":"alice-6d1c2a0",
 "message":"Waiting for the pod","status":"Starting"},
{"id":2,"type":"progress","timestamp":"2026-11-20 13:00:01","objectName":"alice-6d1c2a0",
 "message":"20% complete","status":"20"},
{"id":3,"type":"event","timestamp":"2026-11-20 13:00:02","objectName":"PersistentVolumeClaim/pvc-home",
 "message":"ProvisioningFailed: no class","status":"Warning"},
{"id":4,"type":"status","timestamp":"2026-11-20 13:00:09","objectName":"alice-6d1c2a0",
 "message":"Pulling the image","status":"Pulling"},
{"id":5,"type":"status","timestamp":"2026-11-20 13:00:12","objectName":"alice-6d1c2a0",
 "message":"slow","status":"Warning"},
{"id":6,"type":"status","timestamp":"2026-11-20 13:00:31","objectName":"alice-6d1c2a0",
 "message":"ErrImagePull: no such image","status":"Error"}]}`

// berth reads what k8shell writes.
func TestTheirsIsReadByOurs(t *testing.T) {
	r, err := Decode("0c8f", []byte(theirs))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"1 01 status|pod/alice-6d1c2a0|Provisioning|Waiting for the pod",
		"2 01 progress|alice-6d1c2a0|20|20% complete",
		"3 02 event|persistentvolumeclaim/pvc-home|Warning|ProvisioningFailed: no class",
		"4 09 status|pod/alice-6d1c2a0|Pulling|Pulling the image",
		"5 12 status|pod/alice-6d1c2a0|Provisioning|slow",
		"6 31 status|pod/alice-6d1c2a0|Failing|ErrImagePull: no such image",
	}
	if got := lines(r); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if !r.Events[0].Timestamp.Equal(at(1)) || !r.Events[5].Timestamp.Equal(at(31)) {
		t.Errorf("the clock of its writer is an hour ahead, and its first entry is of %s", r.Events[0].Timestamp)
	}
	if r.State(at(40)) != v1.JobFailed || r.Stage() != v1.StageFailed || r.nextID() != "7" {
		t.Errorf("%s, %s, %s", r.State(at(40)), r.Stage(), r.nextID())
	}
	if err := r.Err(at(40)); fault.CodeOf(err) != fault.Failed ||
		err.Error() != "job 0c8f: ErrImagePull: no such image" {
		t.Error(err)
	}
	running, err := Decode("a", []byte(`{"id":"a","status":"running","finishedAt":"0001-01-01T00:00:00Z"}`))
	if err != nil || running.FinishedAt != nil {
		t.Errorf("%+v, %v", running, err)
	}
}

// Records from before are read: IDs as strings, times with a zone, null for a job that runs.
func TestEarlierRecords(t *testing.T) {
	r, err := Decode("5f0c", []byte(`{"id":"5f0c","status":"running",
"createdAt":"2026-11-20T12:00:00Z","finishedAt":null,"events":[
{"id":"1","type":"progress","timestamp":"2026-11-20T12:00:00.25Z","objectName":"apply",
 "message":"","status":"ended","beganAt":"2026-11-20T12:00:00Z","seconds":0.25},
{"id":"2","type":"status","timestamp":"2026-11-20T13:00:01+01:00","objectName":"pod/alice-1",
 "message":"Pulling: it","status":"Pulling"}]}`))
	if err != nil || len(r.Events) != 2 || r.FinishedAt != nil {
		t.Fatalf("%+v, %v", r, err)
	}
	step, pulling := r.Events[0], r.Events[1]
	if step.ID != "1" || !step.Timestamp.Equal(at(0).Add(250*time.Millisecond)) || !step.BeganAt.Equal(at(0)) ||
		step.Seconds != 0.25 || step.Status != "ended" {
		t.Errorf("%+v", step)
	}
	if pulling.ObjectName != "pod/alice-1" || !pulling.Timestamp.Equal(at(1)) || stageOf(pulling) != v1.StagePulling {
		t.Errorf("%+v", pulling)
	}
}

// The time of an entry is a text.
func TestTimeOfAnEntry(t *testing.T) {
	for text, want := range map[string]string{
		`1700000000`: "the time of an entry is not a string",
		`"tomorrow"`: "cannot parse",
	} {
		var at wireTime
		if err := at.UnmarshalJSON([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
