package job

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/store"
	"github.com/berthdev/berth/internal/store/storetest"
	"github.com/berthdev/berth/internal/waittest"
)

const hush = "hunter2"

func inNATS(t *testing.T, c store.NATSConfig) *Stores {
	t.Helper()
	connection := store.OpenNATS(c, store.Setting{Key: "jobs.nats"}, nil)
	t.Cleanup(connection.Close)
	return withFallback(connection.Bucket(Bucket, "", Retention))
}

// The server is killed and started again while a job is running: nothing is
// missing, in the order in which it happened.
func TestNATSIsLostAndComesBack(t *testing.T) {
	dir := t.TempDir()
	s := storetest.NATS(t, dir, -1, nil)
	stores := inNATS(t, store.NATSConfig{URL: s.ClientURL()})
	r := NewRecorder(stores, time.Now)
	stream := event.NewStream("alice-1", time.Now, r)
	r.Begin(t.Context(), Start{ID: "a", WorkspaceName: "alice-1"})
	tell := func(stages ...v1.Stage) {
		for _, st := range stages {
			stream.Stage(v1.Snapshot{Stage: st, Status: st.Status()})
		}
	}
	has := func(entries int) func() bool {
		return func() bool {
			got, err := get(t.Context(), stores.nats, "a")
			return err == nil && len(got.Events) == entries
		}
	}
	tell(v1.StageScheduling)
	waittest.Until(t, "one stage is kept", has(1))
	port := storetest.Port(t, s)
	s.Shutdown()
	s.WaitForShutdown()
	tell(v1.StagePulling, v1.StageInitializing)
	storetest.NATS(t, dir, port, nil)
	tell(v1.StageStarting)
	waittest.Until(t, "four stages are kept", has(4))
	tell(v1.StageRunning)
	stream.Finish(v1.Result{})
	want := []v1.Stage{v1.StageScheduling, v1.StagePulling, v1.StageInitializing, v1.StageStarting, v1.StageRunning}
	got, err := get(t.Context(), stores.nats, "a")
	if err != nil || !slices.Equal(stagesOf(got), want) || got.Status != v1.JobStatusCompleted || r.Problem() != nil {
		t.Errorf("%v %s, %v, %v", stagesOf(got), got.Status, err, r.Problem())
	}
}

// In NATS each warning has an entry. Where it cannot be used the command ends as it would have, soon; the record is
// in the cluster, folded, and one warning says why.
func TestRecordWithoutNATS(t *testing.T) {
	limited := &server.User{
		Username: "berth", Password: hush,
		Permissions: &server.Permissions{Publish: &server.SubjectPermission{Allow: []string{"x"}}},
	}
	for name, c := range map[string]struct {
		server func(*server.Options)
		config store.NATSConfig
		code   fault.Code // none where it works
		says   string
	}{
		"it works": {nil, store.NATSConfig{}, "", ""},
		"wrong password": {
			func(o *server.Options) { o.Username, o.Password = "berth", "another" },
			store.NATSConfig{User: "berth", Password: hush},
			fault.Unauthenticated, "jobs.nats.password",
		},
		"no such file": {
			nil,
			store.NATSConfig{Credentials: "/none"},
			fault.InvalidArgument,
			"jobs.nats.credentials cannot be used",
		},
		"not allowed": {
			func(o *server.Options) { o.Users = []*server.User{limited} },
			store.NATSConfig{User: "berth", Password: hush},
			fault.PermissionDenied, "the bucket " + Bucket,
		},
		"no JetStream": {
			func(o *server.Options) { o.JetStream = false },
			store.NATSConfig{},
			fault.Unavailable,
			"has no JetStream",
		},
		"away": {nil, store.NATSConfig{URL: "nats://127.0.0.1:1"}, fault.Unavailable, "jobs.nats.url"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.config.URL == "" {
				c.config.URL = storetest.NATS(t, t.TempDir(), -1, c.server).ClientURL()
			}
			stores := inNATS(t, c.config)
			r := NewRecorder(stores, time.Now)
			stream := event.NewStream("alice-1", time.Now, r)
			// On a busy machine, the answer may take longer than the end of a command.
			waittest.Until(t, "the store answers as it will", func() bool {
				_, err := get(t.Context(), stores.nats, "a")
				return c.code == "" && fault.CodeOf(err) == fault.NotFound || c.code != "" &&
					fault.CodeOf(err) == c.code
			})
			r.Begin(t.Context(), Start{ID: "a", WorkspaceName: "alice-1"})
			for n := range 3 {
				stream.Warning(v1.Warning{Object: "pod/alice-1", Reason: "BackOff", Count: n + 1})
			}
			stream.Stage(v1.Snapshot{Stage: v1.StageRunning, Status: v1.StageRunning.Status()})
			stream.Finish(v1.Result{})
			problem := r.Problem()
			waiting, err := list(t.Context(), stores.pending())
			if err != nil {
				t.Fatal(err)
			}
			if c.code == "" {
				if got, err := get(t.Context(), stores.nats, "a"); problem != nil || err != nil ||
					got.Status != v1.JobStatusCompleted || len(got.Events) != 5 || len(waiting) != 0 {
					t.Errorf("%v; %v: %+v, %d in the cluster", problem, err, got, len(waiting))
				}
				return
			}
			if fault.CodeOf(problem) != c.code || !strings.Contains(fmt.Sprint(problem), c.says) || len(waiting) != 1 ||
				waiting[0].Status != v1.JobStatusCompleted || len(waiting[0].Events) != 3 {
				t.Errorf("%v, want %s: %q; in the cluster are %+v", problem, c.code, c.says, waiting)
			}
			if shown := fmt.Sprintf("%v %+v %#v", problem, problem, problem); strings.Contains(shown, hush) {
				t.Errorf("a secret is printed: %s", shown)
			}
		})
	}
}
