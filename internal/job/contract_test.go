package job

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/store"
	"github.com/berthdev/berth/internal/store/storetest"
	"github.com/berthdev/berth/internal/waittest"
)

// timeOfDay is the time of an entry in k8shell's records: to the second, and without a zone.
type timeOfDay string

func (t *timeOfDay) UnmarshalJSON(text []byte) error {
	var s string
	if err := json.Unmarshal(text, &s); err != nil {
		return err
	}
	at, err := time.Parse("2006-01-02 15:04:05", s)
	if err == nil && at.Format("2006-01-02 15:04:05") != s {
		err = fmt.Errorf("the time %q", s)
	}
	*t = timeOfDay(s)
	return err
}

// contractRecord is a record by k8shell's contract. Each field has to be there, and not null.
type contractRecord struct {
	ID            *string          `json:"id"`
	WorkspaceName *string          `json:"workspaceName"`
	Username      *string          `json:"username"`
	Status        *string          `json:"status"`
	CreatedAt     *time.Time       `json:"createdAt"`
	UpdatedAt     *time.Time       `json:"updatedAt"`
	FinishedAt    *time.Time       `json:"finishedAt"`
	Events        *[]contractEvent `json:"events"`
}

type contractEvent struct {
	ID         *int       `json:"id"`
	Type       *string    `json:"type"`
	Timestamp  *timeOfDay `json:"timestamp"`
	ObjectName *string    `json:"objectName"`
	Message    *string    `json:"message"`
	Status     *string    `json:"status"`
}

var (
	ofPercent = regexp.MustCompile(`^(0|20|40|50|60|75|100)$`)
	ofObject  = regexp.MustCompile(`^[A-Za-z]+: .|^[A-Z][A-Za-z]+$`)
)

func statusWords() []string {
	return []string{
		"Starting", "Warning", "Pulling", "Running", "Failing", "Stopping", "Terminating", "Stopped", "Error",
		"Unknown",
	}
}

// contract decodes a record as k8shell's programs do, and finds what is not as they write it.
func contract(text []byte) (r contractRecord, problems []string) {
	no := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	if err := json.Unmarshal(text, &r); err != nil {
		return r, []string{err.Error()}
	}
	if r.ID == nil || r.WorkspaceName == nil || r.Username == nil || r.Status == nil || r.CreatedAt == nil ||
		r.UpdatedAt == nil || r.FinishedAt == nil || r.Events == nil {
		return r, []string{"a field is missing or null"}
	}
	if ended := *r.Status == "completed"; ended == r.FinishedAt.IsZero() || !ended && *r.Status != "running" {
		no("a job that is %s ended at %s", *r.Status, r.FinishedAt)
	}
	for i, e := range *r.Events {
		if e.ID == nil || e.Type == nil || e.Timestamp == nil || e.ObjectName == nil || e.Message == nil ||
			e.Status == nil {
			no("entry %d lacks a field", i+1)
			continue
		}
		if *e.ID != i+1 {
			no("entry %d has the ID %d", i+1, *e.ID)
		}
		switch *e.Type {
		case "status":
			if *e.ObjectName != *r.WorkspaceName || !slices.Contains(statusWords(), *e.Status) {
				no("entry %d has the status %q of %q", i+1, *e.Status, *e.ObjectName)
			}
		case "progress":
			if !ofPercent.MatchString(*e.Status) || *e.Message != *e.Status+"% complete" {
				no("entry %d has the progress %q, %q", i+1, *e.Status, *e.Message)
			}
		case "event":
			if name, kind, _ := strings.Cut(*e.ObjectName, "/"); kind == "" || !ofObject.MatchString(*e.Message) {
				no("entry %d is an event of %q: %q", i+1, name, *e.Message)
			}
		default:
			no("entry %d has the type %q", i+1, *e.Type)
		}
	}
	return r, problems
}

// What berth writes is a record by k8shell's contract, whatever became of the job: it ends with the status Running, or
// with Error and the reason.
func TestRecordsKeepTheContract(t *testing.T) {
	for name, test := range map[string]struct {
		stages []v1.Stage
		result *v1.Error
		last   [2]string
	}{
		"running": {[]v1.Stage{
			v1.StageScheduling, v1.StagePulling, v1.StageInitializing, v1.StageStarting,
			v1.StageRunning,
		}, nil, [2]string{"Running", "Running"}},
		"failed": {
			[]v1.Stage{v1.StageScheduling, v1.StageFailed},
			&v1.Error{Code: string(fault.Failed), Message: "no image"},
			[2]string{"Error", "no image"},
		},
		"gone": {
			[]v1.Stage{v1.StageTerminating, v1.StageStopped, v1.StageUnknown},
			nil,
			[2]string{"Unknown", "Unknown"},
		},
		"hasty": {
			nil, &v1.Error{Code: string(fault.NotFound), Message: "no blueprint"},
			[2]string{"Error", "no blueprint"},
		},
	} {
		stores := inNATS(t, store.NATSConfig{URL: storetest.NATS(t, t.TempDir(), -1, nil).ClientURL()})
		recorder := NewRecorder(stores, time.Now)
		stream := event.NewStream("alice-1", time.Now, recorder)
		recorder.Begin(t.Context(), Start{ID: "a", WorkspaceName: "alice-1"})
		for _, stage := range test.stages {
			stream.Stage(v1.Snapshot{Stage: stage, Status: stage.Status()})
			waittest.Until(t, "it is kept", func() bool {
				d, err := stores.nats.Get(t.Context(), "a")
				return err == nil && bytes.Contains(d.Value, []byte(stage))
			})
			d, _ := stores.nats.Get(t.Context(), "a")
			if _, problems := contract(d.Value); len(problems) > 0 {
				t.Errorf("%s, while it runs: %q\n%s", name, problems, d.Value)
			}
		}
		stream.Finish(v1.Result{Error: test.result})
		waittest.Until(t, "its end is kept", func() bool {
			d, err := stores.nats.Get(t.Context(), "a")
			return err == nil && bytes.Contains(d.Value, []byte(`"completed"`))
		})
		d, err := stores.nats.Get(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		r, problems := contract(d.Value)
		if len(problems) > 0 {
			t.Fatalf("%s: %q\n%s", name, problems, d.Value)
		}
		var last [2]string
		for _, e := range *r.Events {
			if *e.Type == "status" {
				last = [2]string{*e.Status, *e.Message}
			}
		}
		if *r.Status != "completed" || last != test.last {
			t.Errorf("%s: it is %s, and ends with %q\n%s", name, *r.Status, last, d.Value)
		}
	}
}

// The contract is checked: what berth wrote before it, and what breaks it, is none of it.
func TestContractIsChecked(t *testing.T) {
	good := `{"id":"a","workspaceName":"w","username":"u","status":"running","createdAt":"2026-11-20T12:00:00Z",` +
		`"updatedAt":"2026-11-20T12:00:00Z","finishedAt":"0001-01-01T00:00:00Z","events":[{"id":1,"type":"status",` +
		`"timestamp":"2026-11-20 12:00:00","objectName":"w","message":"x","status":"Pulling"}]}`
	if _, problems := contract([]byte(good)); len(problems) > 0 {
		t.Fatal(problems)
	}
	for what, with := range map[string]string{
		`"id":1`: `"id":"1"`, `"finishedAt":"0001-01-01T00:00:00Z"`: `"finishedAt":null`,
		`"2026-11-20 12:00:00"`: `"2026-11-20T12:00:00Z"`, `"objectName":"w"`: `"objectName":"pod/w"`,
		"Pulling":            "Provisioning",
		`"status":"running"`: `"status":"completed"`, `"type":"status"`: `"type":"progress"`, `"username":"u",`: "",
	} {
		if _, problems := contract([]byte(strings.Replace(good, what, with, 1))); len(problems) == 0 {
			t.Errorf("%s in place of %s is taken", with, what)
		}
	}
}

// The bucket is k8shell's, with a record under the job's ID, for two days, of which the newest state is kept on disk.
func TestBucketOfK8shell(t *testing.T) {
	url := storetest.NATS(t, t.TempDir(), -1, nil).ClientURL()
	stores := inNATS(t, store.NATSConfig{URL: url})
	if err := put(t.Context(), stores.nats, Record{ID: "0c8f", Status: v1.JobStatusRunning}); err != nil {
		t.Fatal(err)
	}
	conn, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	kv, err := js.KeyValue(t.Context(), "workspace-provision-jobs")
	if err != nil {
		t.Fatal(err)
	}
	status, err := kv.Status(t.Context())
	if err != nil || status.TTL() != 48*time.Hour || status.History() != 1 {
		t.Errorf("%+v, %v", status, err)
	}
	info, err := js.Stream(t.Context(), "KV_workspace-provision-jobs")
	if err != nil || info.CachedInfo().Config.Storage != jetstream.FileStorage {
		t.Errorf("%+v, %v", info, err)
	}
	entry, err := kv.Get(t.Context(), "0c8f")
	if err != nil {
		t.Fatal(err)
	}
	if _, problems := contract(entry.Value()); len(problems) > 0 {
		t.Errorf("%q\n%s", problems, entry.Value())
	}
}
