package job

import (
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes/fake"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/store"
	"github.com/berthdev/berth/internal/store/storetest"
)

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

func TestProblems(t *testing.T) {
	for name, c := range map[string]struct {
		config Config
		want   []string
	}{
		"nothing": {Config{}, nil},
		"a URL":   {Config{NATS: store.NATSConfig{URL: "nats://a:4222,tls://b"}}, nil},
		"all at once": {
			Config{Store: "redis", Retention: "-1s", NATS: store.NATSConfig{Password: "x"}},
			[]string{
				`jobs.store "redis": must be one of`, `jobs.retention "-1s": must be a duration`,
				"jobs.nats.password",
			},
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

// How long records are kept, as it is configured, as it is meant, and as it is printed.
func TestRetention(t *testing.T) {
	for text, c := range map[string]struct {
		keep    time.Duration
		printed string
		ok      bool
	}{
		"":         {48 * time.Hour, "48h", true},
		"1m":       {time.Minute, "1m0s", true},
		"59.9s":    {59900 * time.Millisecond, "59.9s", false},
		"90m":      {90 * time.Minute, "1h30m0s", true},
		"60m":      {time.Hour, "1h", true},
		"87600h":   {87600 * time.Hour, "87600h", true},
		"87600h1s": {87600*time.Hour + time.Second, "87600h0m1s", false},
		"tomorrow": {48 * time.Hour, "48h", false},
	} {
		config := Config{Retention: text}
		if got := config.Keep(); got != c.keep || FormatRetention(got) != c.printed {
			t.Errorf("%q: kept for %s, printed as %s", text, got, FormatRetention(got))
		}
		if problems := config.Problems(); (len(problems) == 0) != c.ok {
			t.Errorf("%q: %q", text, problems)
		}
	}
}

// What is configured is opened: NATS, the cluster, or nothing.
func TestOpen(t *testing.T) {
	there := store.NATSConfig{URL: storetest.NATS(t, t.TempDir(), -1, nil).ClientURL()}
	client := &kube.Client{Interface: fake.NewClientset(), Namespace: "team"}
	for _, c := range []struct {
		config     Config
		any, nats  bool
		keep       time.Duration
		keepsKnown bool
	}{
		{Config{Store: StoreNone}, false, false, 0, false},
		{Config{Store: StoreNone, NATS: there}, false, false, 0, false},
		{Config{}, true, false, 48 * time.Hour, true},
		{Config{Store: StoreCluster, NATS: there, Retention: "72h"}, true, false, 72 * time.Hour, true},
		{Config{NATS: there, Retention: "72h"}, true, true, 72 * time.Hour, true},
		{Config{Store: StoreNATS, NATS: store.NATSConfig{URL: "nats://127.0.0.1:1"}}, true, true, 0, false},
	} {
		s := Open(t.Context(), c.config, client, time.Now)
		if (s != nil) != c.any || (s.Connection() != nil) != c.nats {
			t.Errorf("%+v: %+v", c.config, s)
		}
		s.CleanUp(t.Context())
		if s != nil {
			p, err := s.Probe(t.Context())
			if p.Exists || (err != nil) != (c.nats && !c.keepsKnown) || (p.Address != "") != c.nats {
				t.Errorf("%+v: NATS is %+v, %v", c.config, p, err)
			}
			if keep, known := s.Retention(t.Context()); keep != c.keep || known != c.keepsKnown ||
				s.cluster.Namespace != "team" {
				t.Errorf("%+v: kept for %s, %t", c.config, keep, known)
			}
		}
		s.Close()
		if c.nats {
			if _, err := s.Get(t.Context(), "a"); fault.CodeOf(err) != fault.Unavailable {
				t.Errorf("%+v: after it is closed: %v", c.config, err)
			}
		}
	}
}

// A bucket that exists keeps records as long as it says, whatever is configured; for ever is not a
// time that can be told.
func TestRetentionOfABucket(t *testing.T) {
	config := store.NATSConfig{URL: storetest.NATS(t, t.TempDir(), -1, nil).ClientURL()}
	client := &kube.Client{Interface: fake.NewClientset(), Namespace: "team"}
	for keep, known := range map[time.Duration]bool{time.Hour: true, 0: false} {
		s := Open(t.Context(), Config{NATS: config, Retention: "72h"}, client, time.Now)
		t.Cleanup(s.Close)
		bucket := s.Connection().Bucket("kept-"+keep.String(), "", keep)
		s.nats = bucket
		if err := put(t.Context(), s.nats, Record{ID: "a"}); err != nil {
			t.Fatal(err)
		}
		if got, is := s.Retention(t.Context()); got != keep || is != known {
			t.Errorf("kept for %s, %t; want %s, %t", got, is, keep, known)
		}
		if p, err := s.Probe(t.Context()); !p.Exists || err != nil {
			t.Errorf("%+v, %v", p, err)
		}
	}
}
