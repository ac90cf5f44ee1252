package job

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/store"
)

// script is a store that delivers some states of a record, and then waits.
type script struct {
	store.Store
	states []Record
}

func (s script) Get(context.Context, string) (store.Document, error) {
	return store.Document{}, fault.New(fault.NotFound, "no document")
}

func (s script) Watch(ctx context.Context, _ string, deliver func(store.Document) bool) error {
	if len(s.states) == 0 {
		return fault.New(fault.NotFound, "no document")
	}
	for _, r := range s.states {
		text, err := r.Encode()
		if err != nil || deliver(store.Document{Key: "a", Value: text, Revision: "1"}) {
			return err
		}
		time.Sleep(heartbeat)
	}
	deliver(store.Document{})
	<-ctx.Done()
	return ctx.Err()
}

// Following ends with the job, or a minute after the last sign of life.
func TestFollow(t *testing.T) {
	running, completed := Record{ID: "a", Status: v1.JobStatusRunning}, Record{ID: "a", Status: v1.JobStatusCompleted}
	for name, c := range map[string]struct {
		states []Record
		shown  int
		took   time.Duration
		code   fault.Code
	}{
		"completed":   {[]Record{running, running, completed, running}, 3, 2 * heartbeat, ""},
		"interrupted": {[]Record{running, running}, 2, heartbeat + silence, ""},
		"not found":   {nil, 0, 0, fault.NotFound},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				for i := range c.states {
					c.states[i].UpdatedAt = time.Now().Add(time.Duration(i) * heartbeat)
				}
				began, shown := time.Now(), 0
				last, err := withFallback(script{states: c.states}).Follow(t.Context(), "a", time.Now,
					func(Record) { shown++ })
				if took := time.Since(began); shown != c.shown || took != c.took || fault.CodeOf(err) != c.code {
					t.Errorf("%d shown in %s, %v; want %d in %s, %s", shown, took, err, c.shown, c.took, c.code)
				}
				if name == "completed" && last.Status != v1.JobStatusCompleted {
					t.Errorf("the last one is %+v", last)
				}
			})
		})
	}
}

// watched is a store that delivers some documents, and says that there are no more changes.
type watched struct {
	store.Store
	documents []store.Document
}

func (w watched) Get(context.Context, string) (store.Document, error) {
	return w.documents[len(w.documents)-1], nil
}

func (w watched) Watch(_ context.Context, _ string, deliver func(store.Document) bool) error {
	if slices.ContainsFunc(w.documents, deliver) {
		return nil
	}
	return errAway
}

// What ends following: a record that cannot be read, an interruption, a job that nobody works on
// any more. A record that is deleted is waited for.
func TestWhatEndsFollowing(t *testing.T) {
	document := func(r Record) store.Document {
		text, err := r.Encode()
		if err != nil {
			t.Fatal(err)
		}
		return store.Document{Key: "a", Value: text, Revision: "1"}
	}
	running := document(Record{ID: "a", Status: v1.JobStatusRunning, UpdatedAt: time.Now()})
	old := document(Record{
		ID: "a", WorkspaceName: "alice-1", Status: v1.JobStatusRunning,
		UpdatedAt: time.Now().Add(-2 * silence),
	})
	completed := document(Record{ID: "a", Status: v1.JobStatusCompleted})
	damaged := store.Document{Key: "a", Value: []byte("{"), Revision: "2"}
	for name, c := range map[string]struct {
		documents []store.Document
		shown     int
		code      fault.Code
	}{
		"the end":                   {[]store.Document{running, completed, running}, 2, ""},
		"deleted, and there again":  {[]store.Document{running, {Key: "a"}, completed}, 2, ""},
		"damaged":                   {[]store.Document{running, damaged, completed}, 1, fault.Failed},
		"the store is away":         {[]store.Document{running, running}, 2, fault.Unavailable},
		"it was silent for a while": {[]store.Document{old, running}, 2, fault.Unavailable},
	} {
		shown := 0
		last, err := withFallback(watched{documents: c.documents}).
			Follow(t.Context(), "a", time.Now, func(Record) { shown++ })
		if shown != c.shown || fault.CodeOf(err) != c.code || last.ID != "a" {
			t.Errorf("%s: %d are shown, %+v, %v", name, shown, last, err)
		}
	}
}

// A job of a command that was killed is shown once, as it is.
func TestFollowOfAnAbandonedJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := withFallback(nil)
		if err := put(t.Context(), s.cluster,
			Record{ID: "a", WorkspaceName: "alice-1", Status: v1.JobStatusRunning, UpdatedAt: time.Now()}); err != nil {
			t.Fatal(err)
		}
		began, shown := time.Now(), 0
		last, err := s.Follow(t.Context(), "a", time.Now, func(Record) { shown++ })
		if err != nil || shown != 1 || last.State(time.Now()) != v1.JobInterrupted || time.Since(began) != settling {
			t.Errorf("%d shown, %+v, %v after %s", shown, last, err, time.Since(began))
		}
		ctx, cancel := context.WithTimeout(t.Context(), settling/2)
		defer cancel()
		began = time.Now()
		if r, err := s.Get(ctx, "a"); err != nil || r.abandoned || time.Since(began) != settling/2 {
			t.Errorf("interrupted: %+v, %v after %s", r, err, time.Since(began))
		}
		records, _, err := s.List(t.Context())
		if err != nil || len(records) != 1 || records[0].State(time.Now()) != v1.JobInterrupted {
			t.Errorf("of a list: %+v, %v", records, err)
		}
	})
}

// A job that is only in the cluster is followed there.
func TestFollowInTheCluster(t *testing.T) {
	s := withFallback(script{})
	text, err := Record{ID: "a", Status: v1.JobStatusCompleted}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	s.cluster.Client.(*fake.Clientset).
		PrependReactor("list", "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) {
			meta := metav1.ObjectMeta{
				Name: "k8shell-job-a", ResourceVersion: "1",
				Labels: map[string]string{"k8shell.io/job-id": "a", LabelExpires: "never"},
			}
			return true, &corev1.ConfigMapList{Items: []corev1.ConfigMap{{
				ObjectMeta: meta,
				Data:       map[string]string{"record": string(text)},
			}}}, nil
		})
	if last, err := s.Follow(t.Context(), "a", time.Now, func(Record) {}); err != nil ||
		last.Status != v1.JobStatusCompleted {
		t.Errorf("%+v, %v", last, err)
	}
}

// Only where a job seems to be abandoned, its last write is waited for.
func TestNoWaitForJobsThatGoOn(t *testing.T) {
	for name, r := range map[string]Record{
		"it has ended":                   {ID: "a", Status: v1.JobStatusCompleted},
		"it is silent anyway":            {ID: "a", Status: v1.JobStatusRunning},
		"it may be of another namespace": {ID: "a", Status: v1.JobStatusRunning, UpdatedAt: time.Now()},
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			if !r.UpdatedAt.IsZero() {
				r.UpdatedAt = began
			}
			s := withFallback(&memory{records: map[string]Record{"a": r}})
			got, err := s.Get(t.Context(), "a")
			if err != nil || got.abandoned || time.Since(began) != 0 {
				t.Errorf("%s: %+v, %v after %s", name, got, err, time.Since(began))
			}
		})
	}
}
