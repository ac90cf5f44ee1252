package lifecycle_test

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/kubetest"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/store"
	"github.com/berthdev/berth/internal/store/storetest"
)

// inNATS is a place in a real store.
func inNATS(t *testing.T) lifecycle.Place {
	t.Helper()
	server := storetest.NATS(t, t.TempDir(), -1, nil)
	n := store.OpenNATS(store.NATSConfig{URL: server.ClientURL()}, store.Setting{}, nil)
	t.Cleanup(n.Close)
	return lifecycle.Place{NATS: n}
}

// bucket is a real store.
func bucket(t *testing.T) store.Store {
	t.Helper()
	return inNATS(t).NATS.Bucket("desired", "", 0)
}

func now() time.Time { return time.Date(2026, time.November, 22, 12, 0, 0, 0, time.UTC) }

// created makes the record of a new workspace.
func created(id string) func(lifecycle.Record) (lifecycle.Record, error) {
	return func(lifecycle.Record) (lifecycle.Record, error) { return lifecycle.New(id, "1", now()), nil }
}

func set(desired v1.DesiredState) func(lifecycle.Record) (lifecycle.Record, error) {
	return func(r lifecycle.Record) (lifecycle.Record, error) { return r.Set(desired, now()) }
}

func change(t *testing.T, s lifecycle.Records, id string,
	decide func(lifecycle.Record) (lifecycle.Record, error),
) lifecycle.Record {
	t.Helper()
	r, err := s.Change(t.Context(), id, decide)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// No change is lost when several are made at once.
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

// Of two readings of a record the newer counts, also where the desired state is the same.
func TestNewer(t *testing.T) {
	s := lifecycle.Records{Store: bucket(t)}
	before := change(t, s, "a", created("a"))
	limited := change(t, s, "a", func(r lifecycle.Record) (lifecycle.Record, error) {
		r.Limits.MaxAgeHours = new(1.0)
		return r, nil
	})
	stopped := change(t, s, "a", set(v1.DesiredStopped))
	again := lifecycle.New("a", "2", now())
	for name, c := range map[string]struct{ r, other, want lifecycle.Record }{
		"other limits":        {before, limited, limited},
		"as they were before": {limited, before, limited},
		"another wish":        {limited, stopped, stopped},
		"the wish before":     {stopped, before, stopped},
		"another incarnation": {again, stopped, again},
		"not read from there": {again, again, again},
	} {
		if got := c.r.Newer(c.other); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// What a user changes during an exchange is not overwritten, and not in its answer.
func TestPassMisses(t *testing.T) {
	place := inNATS(t)
	s := place.Of("")
	for _, id := range []string{"a", "b"} {
		change(t, s, id, created(id))
	}
	before := read(t, s)
	change(t, s, "a", set(v1.DesiredStopped))
	report := lifecycle.Report{Workspaces: []lifecycle.Reported{{ID: "a", Actual: v1.ActualRunning}}}
	p, err := place.Exchange(t.Context(), before, report, unlimited, now())
	if err != nil || fmt.Sprint(p.Missed) != "[a]" || len(p.Written) != 1 || len(p.Answer.Workspaces) != 1 ||
		p.Answer.Workspaces[0].ID != "b" {
		t.Fatalf("%+v, %v", p, err)
	}
	p, err = place.Exchange(t.Context(), read(t, s), report, unlimited, now())
	if err != nil || len(p.Missed) > 0 || len(p.Answer.Workspaces) != 1 ||
		p.Answer.Workspaces[0].Desired != v1.DesiredStopped {
		t.Fatalf("%+v, %v", p, err)
	}
	if r := change(t, s, "a", set(v1.DesiredStopped)); r.Pending() || r.Actual != v1.ActualRunning {
		t.Errorf("%s", r)
	}
	// What was written can be written again without being read.
	if p, err = place.Exchange(t.Context(), p.Written, lifecycle.Report{Full: true}, unlimited, now()); err != nil ||
		len(p.Missed) > 0 {
		t.Errorf("%+v, %v", p, err)
	}
}

// read reads all records, by key.
func read(t *testing.T, s lifecycle.Records) map[string]lifecycle.Record {
	t.Helper()
	all, damaged, err := s.List(t.Context())
	if err != nil || len(damaged) > 0 {
		t.Fatal(damaged, err)
	}
	records := map[string]lifecycle.Record{}
	for _, r := range all {
		records[r.Key()] = r
	}
	return records
}

// Records are watched by their keys among those of all namespaces, whether they are watched
// in one or in all.
func TestWatch(t *testing.T) {
	place := inNATS(t)
	change(t, place.Of("x"), "a.b", func(lifecycle.Record) (lifecycle.Record, error) {
		r := lifecycle.New("a.b", "1", now())
		r.Namespace = "x"
		return r, nil
	})
	type seen struct {
		key  string
		gone bool
	}
	for _, namespace := range []string{"", "x"} {
		delivered := make(chan seen)
		ctx, stop := context.WithCancel(t.Context())
		go func() {
			_ = place.Of(namespace).Watch(ctx, namespace, func(key string, r lifecycle.Record) {
				select {
				case delivered <- seen{key, r.ID == ""}:
				case <-ctx.Done():
				}
			})
		}()
		if got := <-delivered; got != (seen{"x.a.b", false}) {
			t.Errorf("in %q: %+v", namespace, got)
		}
		if namespace == "x" {
			r, err := place.Of("x").Get(ctx, "a.b")
			if err == nil {
				err = place.Of("x").Delete(ctx, r)
			}
			if got := <-delivered; err != nil || got != (seen{"x.a.b", true}) {
				t.Errorf("deleted: %+v, %v", got, err)
			}
		}
		stop()
	}
	if namespace, id := lifecycle.SplitKey("x.a.b"); namespace != "x" || id != "a.b" {
		t.Errorf("taken apart: %s %s", namespace, id)
	}
}

// A record that cannot be read is named, and the others do not wait for it.
func TestDamaged(t *testing.T) {
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
		if _, err := s.Change(t.Context(), key, set(v1.DesiredRunning)); fault.CodeOf(err) != fault.Failed ||
			!strings.Contains(err.Error(), "workspace "+key) {
			t.Errorf("%s: %v", key, err)
		}
	}
	all, damaged, err := s.List(t.Context())
	if err != nil || len(damaged) != 6 || len(all) != 1 {
		t.Errorf("%v, %v, %v", all, damaged, err)
	}
}

// kept is where the records of a namespace are: in values of the test or in a real store.
type kept interface {
	// read reads all records, by their keys among those of all namespaces.
	read(t *testing.T) map[string]lifecycle.Record
	change(ctx context.Context, id string, decide func(lifecycle.Record) (lifecycle.Record, error)) (lifecycle.Record,
		error)
	exchange(ctx context.Context, records map[string]lifecycle.Record, report lifecycle.Report,
		at time.Time) (lifecycle.Pass, error)
}

// places are where records can be. Each namespace is empty at first.
func places(t *testing.T) map[string]func(namespace string) kept {
	t.Helper()
	in := func(p lifecycle.Place) func(string) kept {
		return func(namespace string) kept { return stored{p, namespace} }
	}
	return map[string]func(string) kept{
		"values": func(string) kept { return valued{} }, "NATS": in(inNATS(t)), "ConfigMaps": in(inConfigMaps(t)),
	}
}

// inConfigMaps is a place in an API server.
func inConfigMaps(t *testing.T) lifecycle.Place {
	t.Helper()
	client, err := kubernetes.NewForConfig(&rest.Config{
		Host: kubetest.Start(t, nil).URL, QPS: -1, ContentConfig: rest.ContentConfig{ContentType: "application/json"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return lifecycle.Place{Client: &kube.Client{Interface: client}}
}

// stored are the records of a namespace in a store.
type stored struct {
	place     lifecycle.Place
	namespace string
}

func (s stored) read(t *testing.T) map[string]lifecycle.Record {
	t.Helper()
	return read(t, s.place.Of(s.namespace))
}

func (s stored) change(ctx context.Context, id string,
	decide func(lifecycle.Record) (lifecycle.Record, error),
) (lifecycle.Record, error) {
	return s.place.Of(s.namespace).Change(ctx, id, func(r lifecycle.Record) (lifecycle.Record, error) {
		r, err := decide(r)
		r.Namespace = s.namespace
		return r, err
	})
}

func (s stored) exchange(ctx context.Context, records map[string]lifecycle.Record, report lifecycle.Report,
	at time.Time,
) (lifecycle.Pass, error) {
	return s.place.Exchange(ctx, records, report, unlimited, at)
}

// valued are records of which nothing is stored, in no namespace.
type valued map[string]lifecycle.Record

func (v valued) read(*testing.T) map[string]lifecycle.Record { return maps.Clone(v) }

func (v valued) change(_ context.Context, id string,
	decide func(lifecycle.Record) (lifecycle.Record, error),
) (r lifecycle.Record, err error) {
	if r, err = decide(v[id]); err == nil {
		v[id] = r
	}
	return r, err
}

func (v valued) exchange(_ context.Context, records map[string]lifecycle.Record, report lifecycle.Report,
	at time.Time,
) (lifecycle.Pass, error) {
	changed, answer, err := lifecycle.Exchange(records, report, unlimited, lifecycle.NextMark(records, at))
	maps.Copy(v, changed)
	return lifecycle.Pass{Answer: answer, Written: changed}, err
}
