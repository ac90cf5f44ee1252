package job

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/store"
)

// timed notes when it is written to, since it was made.
type timed struct {
	memory
	since time.Time
	when  []string
}

func (m *timed) Put(ctx context.Context, d store.Document) (string, error) {
	m.mu.Lock()
	m.when = append(m.when, time.Since(m.since).String())
	m.mu.Unlock()
	return m.memory.Put(ctx, d)
}

func (m *timed) times() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return strings.Join(m.when, " ")
}

// When a record is written: at once, when something happens but not more often than it takes, again
// after a failure, and every quarter of a minute.
func TestWhenItIsWritten(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		do   func(m *timed, s *event.Stream)
		want string
	}{
		"nothing happens": {nil, func(*timed, *event.Stream) { time.Sleep(31 * time.Second) }, "0s 15s 30s"},
		"one stage": {nil, func(_ *timed, s *event.Stream) {
			time.Sleep(time.Second)
			reach(s, v1.StageScheduling)
			time.Sleep(time.Second)
		}, "0s 1.2s"},
		"several at a time": {nil, func(_ *timed, s *event.Stream) {
			time.Sleep(time.Second)
			reach(s, threeStages...)
			time.Sleep(time.Second)
		}, "0s 1.2s"},
		"it is away": {
			errAway, func(*timed, *event.Stream) { time.Sleep(4 * time.Second) },
			"0s 250ms 750ms 1.75s 2.75s 3.75s",
		},
		"it is away twice": {errAway, func(m *timed, s *event.Stream) {
			time.Sleep(time.Second)
			m.broken(nil, false)
			time.Sleep(time.Second)
			m.broken(errAway, false)
			reach(s, v1.StageScheduling)
			time.Sleep(time.Second)
		}, "0s 250ms 750ms 1.75s 2.2s 2.45s 2.95s"},
		"it does not answer": {nil, func(m *timed, s *event.Stream) {
			time.Sleep(time.Second)
			m.broken(nil, true)
			reach(s, v1.StageScheduling)
			time.Sleep(5 * time.Second)
		}, "0s 1.2s 3.45s 5.95s"},
		"it is not allowed": {
			fault.New(fault.PermissionDenied, "no"),
			func(*timed, *event.Stream) { time.Sleep(time.Minute) }, "0s",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &timed{memory: memory{err: c.err}, since: time.Now()}
				r := NewRecorder(withFallback(m), time.Now)
				s := event.NewStream("alice-1", time.Now, r)
				r.Begin(t.Context(), Start{ID: "a", WorkspaceName: "alice-1"})
				c.do(m, s)
				if got := m.times(); got != c.want {
					t.Errorf("it is written at %s, want %s", got, c.want)
				}
				s.Finish(v1.Result{})
			})
		})
	}
}

// At the end, an attempt is made as long as there is time for it.
func TestLastAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &timed{}
		r := NewRecorder(withFallback(m), time.Now)
		s := event.NewStream("alice-1", time.Now, r)
		r.Begin(t.Context(), Start{ID: "a", WorkspaceName: "alice-1"})
		time.Sleep(time.Second)
		m.broken(errAway, false)
		m.since, m.when = time.Now(), nil
		s.Finish(v1.Result{})
		if got := m.times(); got != "0s 250ms 750ms 1.75s" || time.Since(m.since) != 1750*time.Millisecond {
			t.Errorf("attempts at %s, and it ends after %s", got, time.Since(m.since))
		}
	})
}

// What cannot be kept is said at the end, with the code of the store where it belongs, and whether
// the cluster has it.
func TestProblemAtTheEnd(t *testing.T) {
	for name, c := range map[string]struct {
		nats, cluster bool // which can be used
		only          bool // there is no NATS
		want          string
	}{
		"all is well": {true, true, false, ""},
		"NATS alone":  {true, false, false, ""},
		"NATS does not answer": {
			false, true, false,
			"UNAVAILABLE the job record is in the cluster until a command reaches NATS: there was no answer in time",
		},
		"NATS is away": {
			false, true, false,
			"UNAVAILABLE the job record is in the cluster until a command reaches NATS: away",
		},
		"neither": {
			false, false, false,
			"UNAVAILABLE the job record was not written: away; nor into the cluster: you",
		},
		"the cluster":              {true, true, true, ""},
		"the cluster is forbidden": {true, false, true, "PERMISSION_DENIED the job record was not written: you"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &memory{}
				if !c.nats {
					m.err, m.hang = errAway, strings.Contains(c.want, "no answer")
				}
				stores := withFallback(m)
				if c.only {
					stores = withFallback(nil)
				}
				if !c.cluster {
					forbid(stores, "patch")
				}
				r := NewRecorder(stores, time.Now)
				s := event.NewStream("alice-1", time.Now, r)
				r.Begin(t.Context(), Start{ID: "a", WorkspaceName: "alice-1"})
				if r.Problem() != nil {
					t.Errorf("before the end: %v", r.Problem())
				}
				s.Finish(v1.Result{})
				got := ""
				if err := r.Problem(); err != nil {
					got = fmt.Sprintf("%s %v", fault.CodeOf(err), err)
				}
				if (got == "") != (c.want == "") || !strings.HasPrefix(got, c.want) {
					t.Errorf("%q, want %q", got, c.want)
				}
			})
		})
	}
}

// A record of which no JSON can be made is written nowhere.
func TestRecordThatCannotBeWritten(t *testing.T) {
	s := configMaps(fake.NewClientset(), "team", Retention, time.Now)
	err := put(t.Context(), s, Record{ID: "a", CreatedAt: time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC)})
	if err == nil || !strings.Contains(err.Error(), "job record a: ") || len(s.Client.(*fake.Clientset).Actions()) > 0 {
		t.Error(err)
	}
}

// A job is continued only once its record could be read, or there is none.
func TestRecorderResumesOnceItCanRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stores := &Stores{cluster: configMaps(fake.NewClientset(), "team", Retention, time.Now)}
		earlier := fold(stage(0, v1.StageScheduling, ""))
		earlier.ID, earlier.CreatedAt = "a", at(0)
		if err := put(t.Context(), stores.cluster, earlier); err != nil {
			t.Fatal(err)
		}
		reads, since := 0, time.Now()
		stores.cluster.Client.(*fake.Clientset).
			PrependReactor("get", "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) {
				reads++
				return time.Since(since) < time.Second, nil, errAway
			})
		r := NewRecorder(stores, time.Now)
		s := event.NewStream("alice-1", time.Now, r)
		r.Begin(t.Context(), Start{ID: "a", WorkspaceName: "alice-1", Resumed: true})
		time.Sleep(900 * time.Millisecond)
		if got, err := list(t.Context(), stores.cluster); err != nil || len(got) != 1 || got[0].WorkspaceName != "" {
			t.Errorf("it is overwritten by %+v, %v", got, err)
		}
		time.Sleep(10 * time.Second)
		reach(s, v1.StageRunning)
		s.Finish(v1.Result{})
		got, err := get(t.Context(), stores.cluster, "a")
		if err != nil || !slices.Equal(stagesOf(got), []v1.Stage{v1.StageScheduling, v1.StageRunning}) ||
			!got.CreatedAt.Equal(at(0)) {
			t.Errorf("%+v, %v", got, err)
		}
		if reads != 4+1 { // three that fail, the one that does not, and that of this test
			t.Errorf("it is read %d times", reads)
		}
	})
}
