package store_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/store"
	"github.com/berthdev/berth/internal/store/storetest"
	"github.com/berthdev/berth/internal/waittest"
)

const (
	bucket = "test"
	keep   = 48 * time.Hour
)

var setting = store.Setting{Key: "jobs.nats", Without: "set jobs.store to cluster"}

func openBucket(t *testing.T, c store.NATSConfig) *store.Bucket {
	t.Helper()
	n := store.OpenNATS(c, setting, nil)
	t.Cleanup(n.Close)
	return n.Bucket(bucket, "", keep)
}

func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

func TestBucketConforms(t *testing.T) {
	storetest.Conform(t, openBucket(t, store.NATSConfig{URL: storetest.NATS(t, t.TempDir(), -1, nil).ClientURL()}))
}

// A part of a bucket is a store of its own; in the whole bucket the keys have what they are under
// before them.
func TestPartsOfABucket(t *testing.T) {
	whole := openBucket(t, store.NATSConfig{URL: storetest.NATS(t, t.TempDir(), -1, nil).ClientURL()})
	part, other := whole.Under("team"), whole.Under("team-2")
	storetest.Conform(t, part)
	for bucket, value := range map[*store.Bucket]string{part: "one", other: "two"} {
		if _, err := bucket.Update(t.Context(), store.Document{Key: "alice", Value: []byte(value)}); err != nil {
			t.Fatal(err)
		}
	}
	for bucket, want := range map[*store.Bucket][]string{
		part: {"alice one"}, other: {"alice two"},
		whole: {"team-2.alice two", "team.alice one"},
	} {
		documents, err := bucket.List(t.Context())
		var got []string
		for _, d := range documents {
			got = append(got, d.Key+" "+string(d.Value))
		}
		slices.Sort(got)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("there is %q, %v, want %q", got, err, want)
		}
	}
}

// While the server is away an error comes when the time is over. A watch continues when it is back, and
// misses nothing that was written since.
func TestNATSIsLostAndComesBack(t *testing.T) {
	dir := t.TempDir()
	s := storetest.NATS(t, dir, -1, nil)
	port := storetest.Port(t, s)
	b := openBucket(t, store.NATSConfig{URL: s.ClientURL()})
	write := func(value string, d time.Duration) error {
		_, err := b.Put(within(t, d), store.Document{Key: "a", Value: []byte(value)})
		return err
	}
	check(t, write("1", waittest.Patience))
	began, ended := make(chan struct{}), make(chan error, 1)
	var seen []string
	go func() {
		ended <- b.Watch(t.Context(), "a", func(d store.Document) bool {
			if seen = append(seen, string(d.Value)); len(seen) == 1 {
				close(began)
			}
			return string(d.Value) == "2"
		})
	}()
	<-began
	s.Shutdown()
	s.WaitForShutdown()
	if err := write("lost", time.Second); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("%v", err)
	}
	storetest.NATS(t, dir, port, nil)
	waittest.Until(t, "it is written", func() bool { return write("2", waittest.Patience) == nil })
	check(t, <-ended)
	if seen = slices.Compact(seen); !slices.Equal(seen, []string{"1", "2"}) {
		t.Errorf("seen %q", seen)
	}
}

// The bucket is created to keep documents for a time; one that exists is used as it
// is.
func TestBucketIsUsedAsItIs(t *testing.T) {
	for name, ttl := range map[string]time.Duration{"created": 0, "exists": time.Hour} {
		t.Run(name, func(t *testing.T) {
			s := storetest.NATS(t, t.TempDir(), -1, nil)
			conn, err := nats.Connect(s.ClientURL())
			check(t, err)
			defer conn.Close()
			js, err := jetstream.New(conn)
			check(t, err)
			want := keep
			if ttl > 0 {
				want = ttl
				_, err := js.CreateKeyValue(t.Context(),
					jetstream.KeyValueConfig{Bucket: bucket, TTL: ttl, Storage: jetstream.MemoryStorage})
				check(t, err)
			}
			_, err = openBucket(t, store.NATSConfig{URL: s.ClientURL()}).Put(t.Context(), store.Document{Key: "a"})
			check(t, err)
			kv, err := js.KeyValue(t.Context(), bucket)
			check(t, err)
			status, err := kv.Status(t.Context())
			if err != nil || status.TTL() != want {
				t.Errorf("the bucket keeps for %s, %v", status.TTL(), err)
			}
		})
	}
}

// A probe changes nothing: it creates no bucket.
func TestProbe(t *testing.T) {
	url := storetest.NATS(t, t.TempDir(), -1, nil).ClientURL()
	b := openBucket(t, store.NATSConfig{URL: url})
	for range 2 {
		if p, err := b.Probe(t.Context()); err != nil || p != (store.Probe{Address: url}) {
			t.Fatalf("%+v, %v", p, err)
		}
	}
	_, err := b.Put(t.Context(), store.Document{Key: "a"})
	check(t, err)
	if p, err := b.Probe(t.Context()); err != nil ||
		p != (store.Probe{Address: url, Exists: true, Keep: keep, Documents: 1}) {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestSecretsAreNotPrinted(t *testing.T) {
	c := store.NATSConfig{User: "u", Password: hush, Token: hush}
	text, err := json.Marshal(c)
	all := fmt.Sprintf("%v %+v %#v %s", c, c, c, text)
	if err != nil || strings.Contains(all, hush) {
		t.Errorf("%s, %v", all, err)
	}
}

func TestNATSConfigProblems(t *testing.T) {
	inCluster := store.ServiceConfig{Namespace: "platform", Name: "nats"}
	for name, c := range map[string]struct {
		config store.NATSConfig
		want   []string
	}{
		"nothing":   {store.NATSConfig{}, nil},
		"URLs":      {store.NATSConfig{URL: "nats://a:4222, tls://b"}, nil},
		"a service": {store.NATSConfig{Service: inCluster}, nil},
		"two addresses": {
			store.NATSConfig{URL: "nats://a", Service: inCluster},
			[]string{"jobs.nats: url and service are mutually exclusive"},
		},
		"half a service": {
			store.NATSConfig{Service: store.ServiceConfig{Name: "nats"}},
			[]string{"jobs.nats.service.namespace is missing"},
		},
		"no name": {
			store.NATSConfig{Service: store.ServiceConfig{Namespace: "a", Port: 70000}},
			[]string{"jobs.nats.service.name is missing", "jobs.nats.service.port: invalid port 70000"},
		},
		"two logins": {
			store.NATSConfig{User: "u", Token: "t"},
			[]string{"jobs.nats: user, token and credentials are mutually exclusive"},
		},
		"no user": {store.NATSConfig{Password: hush}, []string{"jobs.nats.password requires jobs.nats.user"}},
		"half a pair": {
			store.NATSConfig{TLS: store.TLSConfig{Cert: "c"}},
			[]string{"jobs.nats.tls: cert and key must be set together"},
		},
		"no hostname": {
			store.NATSConfig{TLS: store.TLSConfig{ServerName: "a/b"}},
			[]string{`jobs.nats.tls.serverName: invalid hostname "a/b"`},
		},
		"another protocol": {
			store.NATSConfig{URL: "http://a"},
			[]string{`jobs.nats.url: scheme "http": must be one of nats, tls, ws, wss`},
		},
		"no URL": {store.NATSConfig{URL: "nats"}, []string{"jobs.nats.url: invalid URL"}},
		"a secret URL": {
			store.NATSConfig{URL: "nats://u:hunter2@a"},
			[]string{"jobs.nats.url: must not have a password or token in it"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := c.config.Problems("jobs.nats")
			if len(got) != len(c.want) {
				t.Fatalf("%q, want %q", got, c.want)
			}
			for i, want := range c.want {
				if !strings.HasPrefix(got[i], want) || strings.Contains(got[i], hush) {
					t.Errorf("%q, want %q", got[i], want)
				}
			}
		})
	}
}
