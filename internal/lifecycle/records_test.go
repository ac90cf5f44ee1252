package lifecycle_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/store"
	"github.com/berthdev/berth/internal/store/storetest"
)

// bucket is a real store.
func bucket(t *testing.T) store.Store {
	t.Helper()
	server := storetest.NATS(t, t.TempDir(), -1, nil)
	n := store.OpenNATS(store.NATSConfig{URL: server.ClientURL()}, store.Setting{}, nil)
	t.Cleanup(n.Close)
	return n.Bucket("desired", "", 0)
}

func now() time.Time { return time.Date(2026, time.November, 22, 12, 0, 0, 0, time.UTC) }

// created makes the record of a new workspace.
func created(id string) func(lifecycle.Record) (lifecycle.Record, error) {
	return func(lifecycle.Record) (lifecycle.Record, error) { return lifecycle.New(id, "1", now()), nil }
}

func set(desired v1.DesiredState) func(lifecycle.Record) (lifecycle.Record, error) {
	return func(r lifecycle.Record) (lifecycle.Record, error) { return r.Set(desired, now()) }
}

func change(t *testing.T, s lifecycle.Records, id string, decide func(lifecycle.Record) (lifecycle.Record, error)) lifecycle.Record {
	t.Helper()
	r, err := s.Change(t.Context(), id, decide)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Of changes that are made at once none is lost.
func TestChange(t *testing.T) {
	s := lifecycle.Records{Store: bucket(t)}
	change(t, s, "a", created("a"))
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 5 {
				if _, err := s.Change(t.Context(), "a", func(r lifecycle.Record) (lifecycle.Record, error) {
					if r.Desired == v1.DesiredRunning {
						return r.Set(v1.DesiredStopped, now())
					}
					return r.Set(v1.DesiredRunning, now())
				}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if r := change(t, s, "a", set(v1.DesiredRunning)); r.Changed != 21 || r.Desired != v1.DesiredRunning {
		t.Errorf("%s, at revision %d after 20 changes", r, r.Changed)
	}
}

// meanwhile is a store in which somebody does something after the records are listed.
type meanwhile struct {
	store.Store
	do func()
}

func (m meanwhile) List(ctx context.Context) ([]store.Document, error) {
	all, err := m.Store.List(ctx)
	m.do()
	return all, err
}

// What a user changes during an exchange is not overwritten, and not in its answer.
func TestPassMisses(t *testing.T) {
	s := lifecycle.Records{Store: bucket(t)}
	for _, id := range []string{"a", "b"} {
		change(t, s, id, created(id))
	}
	during := lifecycle.Records{Store: meanwhile{s.Store, func() { change(t, s, "a", set(v1.DesiredStopped)) }}}
	report := lifecycle.Report{Workspaces: []lifecycle.Reported{{ID: "a", Actual: v1.ActualRunning}}}
	p, err := during.Exchange(t.Context(), report, unlimited, now())
	if err != nil || fmt.Sprint(p.Missed) != "[a]" || len(p.Answer.Workspaces) != 1 || p.Answer.Workspaces[0].ID != "b" {
		t.Fatalf("%+v, %v", p, err)
	}
	p, err = s.Exchange(t.Context(), report, unlimited, now())
	if err != nil || len(p.Missed) > 0 || len(p.Answer.Workspaces) != 1 || p.Answer.Workspaces[0].Desired != v1.DesiredStopped {
		t.Fatalf("%+v, %v", p, err)
	}
	if r := change(t, s, "a", set(v1.DesiredStopped)); r.Pending() || r.Actual != v1.ActualRunning {
		t.Errorf("%s", r)
	}
}

// A record that cannot be read is named, and the others do not wait for it.
func TestPassDamaged(t *testing.T) {
	s := lifecycle.Records{Store: bucket(t)}
	change(t, s, "good", created("good"))
	for key, text := range map[string]string{
		"text":    "x",
		"large":   `{"id":"large","cause":"` + strings.Repeat("x", 512<<10) + `"}`,
		"other":   `{"id":"good","desired":"Running","actual":"Running","createdAt":"2026-01-01T00:00:00Z"}`,
		"desired": `{"id":"desired","desired":"Paused","actual":"Running"}`,
		"actual":  `{"id":"actual","desired":"Running","actual":"Failing"}`,
		"time":    `{"id":"time","desired":"Running","actual":"Running","createdAt":"0000-01-01T00:00:00Z"}`,
	} {
		if _, err := s.Store.Put(t.Context(), store.Document{Key: key, Value: []byte(text)}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Change(t.Context(), key, set(v1.DesiredRunning)); fault.CodeOf(err) != fault.Failed || !strings.Contains(err.Error(), "workspace "+key) {
			t.Errorf("%s: %v", key, err)
		}
	}
	p, err := s.Exchange(t.Context(), lifecycle.Report{Full: true}, unlimited, now())
	if err != nil || len(p.Damaged) != 6 || len(p.Answer.Workspaces) != 1 {
		t.Errorf("%+v, %v", p, err)
	}
}
