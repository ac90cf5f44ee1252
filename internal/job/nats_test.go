package job

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"

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

// Each way to log in works, and a wrong one is told from a server that is away.
func TestLogins(t *testing.T) {
	file, trusted := credentials(t)
	for name, c := range map[string]struct {
		server    func(*server.Options)
		good, bad NATSConfig
	}{
		"user and password": {
			func(o *server.Options) { o.Username, o.Password = "berth", "right" },
			NATSConfig{User: "berth", Password: "right"},
			NATSConfig{User: "berth", Password: "wrong"},
		},
		"token":       {func(o *server.Options) { o.Authorization = "right" }, NATSConfig{Token: "right"}, NATSConfig{Token: "wrong"}},
		"credentials": {trusted, NATSConfig{Credentials: file}, NATSConfig{}},
	} {
		t.Run(name, func(t *testing.T) {
			s := startNATS(t, t.TempDir(), -1, c.server)
			c.good.URL, c.bad.URL = s.ClientURL(), s.ClientURL()
			good := openNATS(t, c.good)
			if err := good.Put(t.Context(), Record{ID: "a"}); err != nil {
				t.Errorf("%v", err)
			}
			bad := openNATS(t, c.bad)
			until(t, func() bool {
				return fault.CodeOf(bad.Put(t.Context(), Record{ID: "a"})) == fault.Unauthenticated
			})
		})
	}
}

// credentials makes an account of its own with JetStream, a user in it, and the
// file by which that user logs in.
func credentials(t *testing.T) (file string, trusted func(*server.Options)) {
	t.Helper()
	operator, account, user := key(t, nkeys.CreateOperator), key(t, nkeys.CreateAccount), key(t, nkeys.CreateUser)
	system := key(t, nkeys.CreateAccount)
	public := func(k nkeys.KeyPair) string { p, err := k.PublicKey(); check(t, err); return p }
	encode := func(c jwt.Claims, k nkeys.KeyPair) string { s, err := c.Encode(k); check(t, err); return s }
	claims := jwt.NewAccountClaims(public(account))
	claims.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: -1, DiskStorage: -1, Streams: -1, Consumer: -1}
	accountJWT, systemJWT := encode(claims, operator), encode(jwt.NewAccountClaims(public(system)), operator)
	userClaims := jwt.NewUserClaims(public(user))
	seed, err := user.Seed()
	check(t, err)
	text, err := jwt.FormatUserConfig(encode(userClaims, account), seed)
	check(t, err)
	file = filepath.Join(t.TempDir(), "user.creds")
	check(t, os.WriteFile(file, text, 0o600))
	operatorClaims := jwt.NewOperatorClaims(public(operator))
	operatorJWT := encode(operatorClaims, operator)
	return file, func(o *server.Options) {
		parsed, err := jwt.DecodeOperatorClaims(operatorJWT)
		check(t, err)
		resolver := &server.MemAccResolver{}
		check(t, resolver.Store(public(account), accountJWT))
		check(t, resolver.Store(public(system), systemJWT))
		o.TrustedOperators, o.AccountResolver, o.SystemAccount = []*jwt.OperatorClaims{parsed}, resolver, public(system)
	}
}

func key(t *testing.T, create func() (nkeys.KeyPair, error)) nkeys.KeyPair {
	t.Helper()
	k, err := create()
	check(t, err)
	return k
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
