package job

import (
	"net"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
)

// startNATS starts a server that keeps what it has in dir.
func startNATS(t *testing.T, dir string, port int, change func(*server.Options)) *server.Server {
	t.Helper()
	options := &server.Options{Host: "127.0.0.1", Port: port, JetStream: true, StoreDir: dir, NoLog: true, NoSigs: true}
	if change != nil {
		change(options)
	}
	s, err := server.NewServer(options)
	if err != nil {
		t.Fatal(err)
	}
	go s.Start()
	if !s.ReadyForConnections(20 * time.Second) {
		t.Fatal("NATS does not start")
	}
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	return s
}

func portOf(s *server.Server) int { return s.Addr().(*net.TCPAddr).Port }

func openNATS(t *testing.T, c NATSConfig) *NATS {
	t.Helper()
	n := OpenNATS(c, Retention, nil)
	t.Cleanup(n.Close)
	return n
}

// The server is killed and started again while a job is at work: nothing is
// missing, in the order in which it happened.
func TestNATSIsLostAndComesBack(t *testing.T) {
	dir := t.TempDir()
	s := startNATS(t, dir, -1, nil)
	port := portOf(s)
	n := openNATS(t, NATSConfig{URL: s.ClientURL()})
	r := NewRecorder(withSpare(n, n, clusterFor(t, time.Now)), time.Now)
	stream := event.NewStream("alice-1", time.Now, r)
	r.Begin(t.Context(), Start{ID: "a", WorkspaceName: "alice-1"})
	tell := func(stages ...v1.Stage) {
		for _, st := range stages {
			stream.Stage(v1.Snapshot{Stage: st, Status: st.Status()})
		}
	}
	tell(v1.StageScheduling)
	until(t, func() bool { got, err := n.Get(t.Context(), "a"); return err == nil && len(got.Events) == 1 })
	s.Shutdown()
	s.WaitForShutdown()
	tell(v1.StagePulling, v1.StageInitializing)
	startNATS(t, dir, port, nil)
	tell(v1.StageStarting)
	until(t, func() bool { got, err := n.Get(t.Context(), "a"); return err == nil && len(got.Events) == 4 })
	tell(v1.StageRunning)
	stream.Finish(v1.Result{})
	want := []v1.Stage{v1.StageScheduling, v1.StagePulling, v1.StageInitializing, v1.StageStarting, v1.StageRunning}
	got, err := n.Get(t.Context(), "a")
	if err != nil || !slices.Equal(stagesOf(got), want) || got.Status != Completed || r.Problem() != nil {
		t.Errorf("%v %s, %v, %v", stagesOf(got), got.Status, err, r.Problem())
	}
}

func until(t *testing.T, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !condition(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it does not come to pass")
		}
	}
}

// The bucket is made for 48 hours; one that is there is used as it is.
func TestBucket(t *testing.T) {
	for name, ttl := range map[string]time.Duration{"made": 0, "there": time.Hour} {
		t.Run(name, func(t *testing.T) {
			s := startNATS(t, t.TempDir(), -1, nil)
			conn, err := nats.Connect(s.ClientURL())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			js, err := jetstream.New(conn)
			if err != nil {
				t.Fatal(err)
			}
			want := Retention
			if ttl > 0 {
				want = ttl
				if _, err := js.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: Bucket, TTL: ttl, Storage: jetstream.MemoryStorage}); err != nil {
					t.Fatal(err)
				}
			}
			n := openNATS(t, NATSConfig{URL: s.ClientURL()})
			if err := n.Put(t.Context(), Record{ID: "a"}); err != nil {
				t.Fatal(err)
			}
			kv, err := js.KeyValue(t.Context(), "workspace-provision-jobs")
			if err != nil {
				t.Fatal(err)
			}
			status, err := kv.Status(t.Context())
			if err != nil || status.TTL() != want {
				t.Errorf("the bucket keeps for %s, %v", status.TTL(), err)
			}
			if all, err := n.List(t.Context()); err != nil || len(all) != 1 {
				t.Errorf("%v, %v", all, err)
			}
			if _, err := n.Get(t.Context(), "b"); fault.CodeOf(err) != fault.NotFound {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestWatchNATS(t *testing.T) {
	n := openNATS(t, NATSConfig{URL: startNATS(t, t.TempDir(), -1, nil).ClientURL()})
	if err := n.Put(t.Context(), Record{ID: "a", Status: Running}); err != nil {
		t.Fatal(err)
	}
	var seen []Status
	err := n.Watch(t.Context(), "a", func(r Record) bool {
		if seen = append(seen, r.Status); r.Status == Running {
			if err := n.Put(t.Context(), Record{ID: "a", Status: Completed}); err != nil {
				t.Error(err)
			}
		}
		return r.Status == Completed
	})
	if err != nil || !slices.Equal(seen, []Status{Running, Completed}) {
		t.Errorf("%v, %v", seen, err)
	}
}

// A probe changes nothing: it makes no bucket.
func TestProbe(t *testing.T) {
	const keep = 72 * time.Hour
	n := OpenNATS(NATSConfig{URL: startNATS(t, t.TempDir(), -1, nil).ClientURL()}, keep, nil)
	t.Cleanup(n.Close)
	for range 2 {
		if p, err := n.Probe(t.Context()); err != nil || p.Made {
			t.Fatalf("%+v, %v", p, err)
		}
	}
	check(t, n.Put(t.Context(), Record{ID: "a"}))
	if p, err := n.Probe(t.Context()); err != nil || !p.Made || p.TTL != keep || p.Records != 1 || p.Address != n.name {
		t.Errorf("%+v, %v", p, err)
	}
}
