package desired

import (
	"errors"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/provision/inventory"
)

// recordedState is the state of the workspace with this record; without an ID, there is no record.
func recordedState(t *testing.T, r lifecycle.Record) (State, *fake.Clientset) {
	t.Helper()
	typed := fake.NewClientset()
	client := &kube.Client{Interface: typed, Namespace: "dev"}
	s := State{
		Reader: inventory.Reader{Client: client, Now: time.Now}, Place: lifecycle.Place{Client: client}, ID: id,
	}
	if r.ID != "" {
		_, err := s.records().Change(t.Context(), r.ID,
			func(lifecycle.Record) (lifecycle.Record, error) { return r, nil })
		if err != nil {
			t.Fatal(err)
		}
	}
	return s, typed
}

// alice is the record of a workspace.
func alice(desired v1.DesiredState, userString, values string) lifecycle.Record {
	return lifecycle.Record{
		ID: id, Namespace: "dev", Incarnation: "1", UserString: userString, Values: values, Desired: desired,
		Actual: v1.ActualRunning, CreatedAt: time.Now().UTC(), DesiredAt: time.Now().UTC(), ActualAt: time.Now().UTC(),
	}
}

// The objects of a workspace say its user string; where they do not, its record does.
func TestUserString(t *testing.T) {
	for name, test := range map[string]struct {
		said   string
		record lifecycle.Record
		want   string
		err    string
	}{
		"its objects say it":      {"alice", alice(v1.DesiredRunning, "alice~plain", ""), "alice", ""},
		"its record says it":      {"", alice(v1.DesiredRunning, "alice~plain", ""), "alice~plain", ""},
		"it is said nowhere":      {"", lifecycle.Record{}, "", "the user string of workspace " + id + " is not known"},
		"its record is not whole": {"", alice(v1.DesiredRunning, "", ""), "", "is not known"},
	} {
		s, _ := recordedState(t, test.record)
		u, err := s.UserString(t.Context(), test.said)
		if test.err != "" {
			if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil || u.String() != test.want {
			t.Errorf("%s: %q, %v", name, u, err)
		}
	}
}

// An injected workspace is started with the values of its record, unless it is being deleted or they cannot be read.
func TestValues(t *testing.T) {
	const unknown = "what the workspace was made of is not recorded"
	for name, test := range map[string]struct {
		record lifecycle.Record
		want   any
		err    string
	}{
		"recorded":       {alice(v1.DesiredStopped, "alice", `{"image": "debian"}`), "debian", ""},
		"being deleted":  {alice(v1.DesiredTerminated, "alice", `{"image": "debian"}`), nil, "is being deleted"},
		"no record":      {lifecycle.Record{}, nil, unknown},
		"without values": {alice(v1.DesiredStopped, "alice", ""), nil, unknown},
		"cut off":        {alice(v1.DesiredStopped, "alice", `{"image": `), nil, id + " cannot be read"},
	} {
		s, _ := recordedState(t, test.record)
		values, err := s.Values(t.Context())
		if test.err != "" {
			if err == nil || !strings.Contains(err.Error(), test.err) || values != nil {
				t.Errorf("%s: %v, %v", name, values, err)
			}
			continue
		}
		if err != nil || values["image"] != test.want {
			t.Errorf("%s: %v, %v", name, values, err)
		}
	}
}

// What a record says decides whether there is a workspace of which nothing else is, and whether it was stopped.
func TestExistsByRecord(t *testing.T) {
	for name, test := range map[string]struct {
		record          lifecycle.Record
		exists, stopped bool
	}{
		"runs":             {alice(v1.DesiredRunning, "alice", ""), true, false},
		"is stopped":       {alice(v1.DesiredStopped, "alice", ""), true, true},
		"is restarted":     {alice(v1.DesiredRestart, "alice", ""), true, true},
		"is being deleted": {alice(v1.DesiredTerminated, "alice", ""), false, false},
		"has no record":    {lifecycle.Record{}, false, false},
	} {
		s, _ := recordedState(t, test.record)
		exists, err := s.Exists(t.Context(), inventory.Found{})
		stopped, stoppedErr := s.WasStopped(t.Context())
		if exists != test.exists || stopped != test.stopped || err != nil || stoppedErr != nil {
			t.Errorf("a workspace that %s: exists %t, %v; stopped %t, %v", name, exists, err, stopped, stoppedErr)
		}
	}
}

// A record that cannot be read is an error, never an answer.
func TestRecordThatCannotBeRead(t *testing.T) {
	s, client := recordedState(t, alice(v1.DesiredStopped, "alice", "{}"))
	client.PrependReactor("get", "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, errors.New("no answer")
	})
	asks := map[string]func() error{
		"exists":     func() error { _, err := s.Exists(t.Context(), inventory.Found{}); return err },
		"wasStopped": func() error { _, err := s.WasStopped(t.Context()); return err },
		"userString": func() error { _, err := s.UserString(t.Context(), ""); return err },
		"values":     func() error { _, err := s.Values(t.Context()); return err },
	}
	for name, ask := range asks {
		if err := ask(); err == nil || !strings.Contains(fault.From(err).Error(), "no answer") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
