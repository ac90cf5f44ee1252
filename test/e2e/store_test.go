//go:build e2e

package e2e

import (
	"testing"
	"time"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/store"
	"github.com/berthdev/berth/internal/store/storetest"
)

// ConfigMaps keep the contract of a store at a real API server, with and without an
// expiry; what has expired is hidden and swept, and nothing else.
func TestStoreInConfigMaps(t *testing.T) {
	w := newWorld(t)
	now := time.Now()
	s := store.ConfigMaps{
		Client: w.Interface, Namespace: w.namespace, NamePrefix: "test-", DataKey: "text", KeyLabel: "example.com/key",
		ExpiryLabel: "example.com/expires", Now: func() time.Time { return now },
	}
	t.Run("for ever", func(t *testing.T) { storetest.Conform(t, s) })
	s.Keep = time.Hour
	t.Run("for an hour", func(t *testing.T) { storetest.Conform(t, s) })
	for _, key := range []string{"old", "new"} {
		if _, err := s.Put(t.Context(), store.Document{Key: key}); err != nil {
			t.Fatal(err)
		}
		now = now.Add(45 * time.Minute)
	}
	for range 2 { // before it is swept and afterwards
		all, err := s.List(t.Context())
		if err != nil || len(all) != 1 || all[0].Key != "new" {
			t.Errorf("listed %+v, %v", all, err)
		}
		if _, err := s.Get(t.Context(), "old"); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("an expired document is read: %v", err)
		}
		if err := s.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	now = now.Add(-90 * time.Minute)
	if all, err := s.List(t.Context()); err != nil || len(all) != 1 {
		t.Errorf("after the sweep there are %+v, %v", all, err)
	}
}
