package job

import (
	"testing"
	"time"

	"k8s.io/client-go/kubernetes/fake"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/store"
	"github.com/berthdev/berth/internal/store/storetest"
)

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
