package job

import (
	"context"
	"maps"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/lock"
)

func recordsOf(ids ...string) (records []Record) {
	for _, id := range ids {
		records = append(records, Record{ID: id, WorkspaceName: "alice-1", CreatedAt: at(0), UpdatedAt: at(0)})
	}
	return records
}

func TestShortIDs(t *testing.T) {
	for name, c := range map[string]struct {
		ids  []string
		want map[string]string
	}{
		"none": {nil, map[string]string{}},
		"seven characters": {
			[]string{"5f0c1a52-9d7b", "9b0c1a52-9d7b"},
			map[string]string{"5f0c1a52-9d7b": "5f0c1a5", "9b0c1a52-9d7b": "9b0c1a5"},
		},
		"as many as it takes": {
			[]string{"5f0c1a52-9d7b", "5f0c1a52-9e7b"},
			map[string]string{"5f0c1a52-9d7b": "5f0c1a52-9d", "5f0c1a52-9e7b": "5f0c1a52-9e"},
		},
		"in any order": {
			[]string{"5f0c1a52-9d7b", "9b0c1a52-9d7b", "5f0c1a52-9e7b"},
			map[string]string{
				"5f0c1a52-9d7b": "5f0c1a52-9d", "9b0c1a52-9d7b": "9b0c1a5",
				"5f0c1a52-9e7b": "5f0c1a52-9e",
			},
		},
		"a short one stays": {[]string{"x", "y"}, map[string]string{"x": "x", "y": "y"}},
		"one begins as another": {
			[]string{"5f0c1a5", "5f0c1a52"},
			map[string]string{"5f0c1a5": "5f0c1a5", "5f0c1a52": "5f0c1a52"},
		},
	} {
		if got := ShortIDs(recordsOf(c.ids...)); !maps.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// The beginning of an ID is as good as the ID, unless two begin with it.
func TestChoose(t *testing.T) {
	records := recordsOf("5f0c1a52-9d7b", "5f0c1a52-9e7b", "9b0c", "9b0c1a52")
	for typed, c := range map[string]struct {
		want, problem string
		code          fault.Code
	}{
		"5f0c1a52-9d7b": {want: "5f0c1a52-9d7b"},
		"5f0c1a52-9e":   {want: "5f0c1a52-9e7b"},
		"9b0c":          {want: "9b0c"},
		"9b0c1":         {want: "9b0c1a52"},
		"5f": {
			code:    fault.InvalidArgument,
			problem: "5f0c1a52-9e7b (alice-1, Interrupted, 2026-11-20T12:00:00Z)",
		},
		"7":      {code: fault.NotFound},
		"0c1a52": {code: fault.NotFound},
	} {
		got, err := choose(records, typed, at(3600))
		if got != c.want || fault.CodeOf(err) != c.code {
			t.Errorf("%s means %q, %v; want %q", typed, got, err, c.want)
		}
		if err != nil && !strings.Contains(strings.Join(fault.From(err).Problems, "\n"), c.problem) {
			t.Errorf("%s: the candidates are %q", typed, fault.From(err).Problems)
		}
	}
}

// A record says Running only while somebody has the lock of the workspace for that job. It is
// not changed by being read.
func TestJobWithoutItsLock(t *testing.T) {
	lease := func(workspace, job string, holder lock.Holder, second int) *coordinationv1.Lease {
		renewed, identity := metav1.NewMicroTime(at(second)), holder.String()
		return &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{
				Name: "berth-" + workspace, Namespace: "team",
				Labels:      map[string]string{"k8shell.io/canonical-id": workspace},
				Annotations: map[string]string{"berth.dev/job-id": job},
			},
			Spec: coordinationv1.LeaseSpec{HolderIdentity: &identity, RenewTime: &renewed},
		}
	}
	elsewhere := lock.Holder{User: "bob", Host: "other", PID: 1, Started: "1", Nonce: "x"}
	dead := lock.Self()
	dead.Started = "0"
	for name, c := range map[string]struct {
		lease *coordinationv1.Lease // nil for none
		want  v1.JobState
	}{
		"held for it":                            {lease("alice-1", "it", elsewhere, 9), v1.JobRunning},
		"held by one that goes on with it":       {lease("alice-1", "unrecorded", elsewhere, 9), v1.JobRunning},
		"held by this process":                   {lease("alice-1", "it", lock.Self(), 9), v1.JobRunning},
		"not renewed, by the clock of elsewhere": {lease("alice-1", "it", elsewhere, -45), v1.JobRunning},
		"not renewed for long":                   {lease("alice-1", "it", elsewhere, -60), v1.JobInterrupted},
		"held by a process that is dead":         {lease("alice-1", "it", dead, 9), v1.JobInterrupted},
		"held for a later job":                   {lease("alice-1", "later", elsewhere, 9), v1.JobInterrupted},
		"held for a deletion":                    {lease("alice-1", "", elsewhere, 9), v1.JobInterrupted},
		"another workspace's is held":            {lease("bob-1", "it", elsewhere, 9), v1.JobInterrupted},
		"free":                                   {nil, v1.JobInterrupted},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := fake.NewClientset()
			if c.lease != nil {
				_ = client.Tracker().Add(c.lease)
			}
			s := &Stores{cluster: configMaps(client, "team", Retention, func() time.Time { return at(10) })}
			for _, r := range []Record{
				{ID: "it", WorkspaceName: "alice-1", Status: v1.JobStatusRunning, UpdatedAt: at(0)},
				{ID: "later", WorkspaceName: "alice-1", Status: v1.JobStatusCompleted, UpdatedAt: at(5)},
			} {
				if err := put(t.Context(), s.cluster, r); err != nil {
					t.Fatal(err)
				}
			}
			client.ClearActions()
			one, err := s.Get(t.Context(), "it")
			all, _, listErr := s.List(t.Context())
			if err != nil || listErr != nil || len(all) != 2 {
				t.Fatalf("%v, %v, %d records", err, listErr, len(all))
			}
			for _, r := range append(all, one) {
				if got := r.State(at(10)); r.ID == "it" && got != c.want {
					t.Errorf("it is told as %s, want %s", got, c.want)
				}
			}
			for _, action := range client.Actions() {
				if verb := action.GetVerb(); verb != "get" && verb != "list" {
					t.Errorf("to read a record, it sends %s", verb)
				}
			}
		})
	}
}

// A job whose lock is released ends with a last write, which may still be under way: it is not
// told as interrupted.
func TestJobThatEndsMeanwhile(t *testing.T) {
	client := fake.NewClientset()
	s := &Stores{cluster: configMaps(client, "team", Retention, func() time.Time { return at(10) })}
	running := Record{ID: "it", WorkspaceName: "alice-1", Status: v1.JobStatusRunning, UpdatedAt: at(0)}
	ended := running
	ended.Status, ended.UpdatedAt = v1.JobStatusCompleted, at(10)
	if err := put(t.Context(), s.cluster, running); err != nil {
		t.Fatal(err)
	}
	client.PrependReactor("list", "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
		time.AfterFunc(settling/5, func() { _ = put(context.WithoutCancel(t.Context()), s.cluster, ended) })
		return false, nil, nil
	})
	if r, err := s.Get(t.Context(), "it"); err != nil || r.Status != v1.JobStatusCompleted || r.abandoned {
		t.Errorf("%+v, %v", r, err)
	}
}

// Records of NATS may be of any namespace: only a lock that was taken for the job says that
// nobody works on it.
func TestJobInNATSWithoutItsLock(t *testing.T) {
	dead := lock.Self()
	dead.Started = "0"
	for name, c := range map[string]struct {
		job  string // that the lock of a dead holder was taken for; empty for no lock
		want v1.JobState
	}{
		"its command was killed": {"it", v1.JobInterrupted},
		"another job's was":      {"other", v1.JobRunning},
		"of another namespace":   {"", v1.JobRunning},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := fake.NewClientset()
			if c.job != "" {
				_ = client.Tracker().Add(&coordinationv1.Lease{
					ObjectMeta: metav1.ObjectMeta{
						Name: "berth-alice-1", Namespace: "team",
						Labels:      map[string]string{"k8shell.io/canonical-id": "alice-1"},
						Annotations: map[string]string{"berth.dev/job-id": c.job},
					},
					Spec: coordinationv1.LeaseSpec{
						HolderIdentity: new(dead.String()),
						RenewTime:      new(metav1.NewMicroTime(at(9))),
					},
				})
			}
			now := func() time.Time { return at(10) }
			s := &Stores{
				cluster: configMaps(client, "team", Retention, now),
				nats:    configMaps(fake.NewClientset(), "nats", Retention, now),
			}
			if err := put(t.Context(), s.nats,
				Record{ID: "it", WorkspaceName: "alice-1", Status: v1.JobStatusRunning, UpdatedAt: at(0)}); err != nil {
				t.Fatal(err)
			}
			if r, err := s.Get(t.Context(), "it"); err != nil || r.State(at(10)) != c.want {
				t.Errorf("%s, %v", r.State(at(10)), err)
			}
		})
	}
}

// Anyone who may not see locks is told by the age of the record alone.
func TestJobsWithoutPermissionForLocks(t *testing.T) {
	client := fake.NewClientset()
	client.PrependReactor("list", "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, fault.New(fault.PermissionDenied, "you may not list leases")
	})
	s := &Stores{cluster: configMaps(client, "team", Retention, func() time.Time { return at(10) })}
	if err := put(t.Context(), s.cluster,
		Record{ID: "it", WorkspaceName: "alice-1", Status: v1.JobStatusRunning, UpdatedAt: at(0)}); err != nil {
		t.Fatal(err)
	}
	for second, want := range map[int]v1.JobState{10: v1.JobRunning, 100: v1.JobInterrupted} {
		if r, err := s.Get(t.Context(), "it"); err != nil || r.State(at(second)) != want {
			t.Errorf("after %d s it is %s, %v; want %s", second, r.State(at(second)), err, want)
		}
	}
}
