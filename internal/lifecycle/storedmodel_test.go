package lifecycle_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/lifecycle"
)

// The model in both stores, with users and two agents that work at the same time and so get
// into each other's way, and agents that end before they have done what they were answered.
func TestModelInStores(t *testing.T) {
	for place, p := range map[string]lifecycle.Place{"NATS": inNATS(t), "ConfigMaps": inConfigMaps(t)} {
		for _, reliable := range []bool{true, false} {
			name := fmt.Sprintf("%s, reliable %t", place, reliable)
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				m := &storedModel{
					stored: stored{p, fmt.Sprintf("model-%t", reliable)}, reliable: reliable,
					world: newModel(nil),
				}
				m.play(t)
				if problems := m.world.problems(); len(problems) > 0 {
					t.Errorf("%q", problems)
				}
			})
		}
	}
}

const (
	wishes = 60               // of users
	bound  = 60 * time.Second // until all has come about; it takes a few
)

// storedModel is a model whose records are in a store.
type storedModel struct {
	stored   stored
	reliable bool

	mu        sync.Mutex // of all below
	world     *model     // its cluster, and what was applied there
	conflicts int
}

// play lets users and agents work until all has come about that was wanted.
func (m *storedModel) play(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), bound)
	defer cancel()
	group, ctx := errgroup.WithContext(ctx)
	satisfied := make(chan struct{})
	group.Go(func() error {
		defer close(satisfied)
		return m.users(ctx, rand.New(rand.NewPCG(1, 1)))
	})
	for n := range uint64(2) {
		group.Go(func() error { return m.agent(ctx, rand.New(rand.NewPCG(2, n)), satisfied) })
	}
	if err := group.Wait(); err != nil {
		t.Error(err)
	}
	m.world.records = m.stored.read(t)
	t.Logf("%d records were changed by two at once", m.conflicts)
}

// users want one thing after the other, and most of the time something else than the end.
func (m *storedModel) users(ctx context.Context, random *rand.Rand) error {
	all := []v1.DesiredState{
		v1.DesiredRunning, v1.DesiredStopped, v1.DesiredRestart, v1.DesiredRunning, v1.DesiredStopped,
		v1.DesiredRestart,
		v1.DesiredTerminated,
	}
	for n := range wishes {
		id, desired := []string{"a", "b", "c"}[random.IntN(3)], all[random.IntN(len(all))]
		var before lifecycle.Record
		after, err := m.stored.change(ctx, id, func(r lifecycle.Record) (lifecycle.Record, error) {
			if before = r; r.ID == "" {
				return lifecycle.New(id, fmt.Sprint(n), now()), nil
			}
			return r.Set(desired, now())
		})
		switch {
		case before.Desired == v1.DesiredTerminated && after.Desired != v1.DesiredTerminated:
			return fmt.Errorf("%s was terminated and is wanted again", before)
		case before.Done(): // it is made again
			if err := m.stored.place.Of(m.stored.namespace).Delete(ctx, before); err != nil &&
				fault.CodeOf(err) != fault.Conflict {
				return err
			}
		case err != nil && before.Desired != v1.DesiredTerminated:
			return err
		}
	}
	return nil
}

// agent makes one exchange after the other, until nothing is left to be done.
func (m *storedModel) agent(ctx context.Context, random *rand.Rand, satisfied <-chan struct{}) error {
	a := newAgent()
	for over := false; ; {
		select {
		case <-ctx.Done():
			return fmt.Errorf("not everything has come about: %w", ctx.Err())
		case <-satisfied:
			if !over && !m.reliable {
				a = newAgent() // what was lost is found
			}
			over = true
		default:
		}
		rests, err := m.exchange(ctx, a, random)
		switch {
		case err != nil:
			return err
		case over && rests:
			return nil
		case !m.reliable && !over && random.IntN(6) == 0:
			a = newAgent() // it starts again: what it was about to do is lost
		}
		for _, w := range a.todo {
			if err := m.apply(ctx, a, w); err != nil {
				return err
			}
		}
		a.todo = nil
	}
}

// exchange is one of an agent. It rests if all is as it is meant to be.
func (m *storedModel) exchange(ctx context.Context, a *agent, random *rand.Rand) (rests bool, err error) {
	all, damaged, err := m.stored.place.Of(m.stored.namespace).List(ctx)
	if err != nil || len(damaged) > 0 {
		return false, fmt.Errorf("%v, %w", damaged, err)
	}
	a.snapshot = map[string]lifecycle.Record{}
	for _, r := range all {
		a.snapshot[r.Key()] = r
	}
	report := m.report(a, random)
	pass, err := m.stored.exchange(ctx, a.snapshot, report, now())
	if err != nil {
		return false, err
	}
	for _, w := range report.Workspaces {
		a.reported[w.ID] = w.Actual
	}
	for _, key := range pass.Missed {
		delete(a.reported, key)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.conflicts += len(pass.Missed)
	for _, w := range pass.Answer.Workspaces {
		if w.Apply {
			a.todo = append(a.todo, w)
			if !a.full {
				change := fmt.Sprintf("change %d of %s (%s)", w.Changed, w.ID, w.Incarnation)
				m.world.applied[change]++
				if m.world.applied[change] > 1 {
					return false, fmt.Errorf("%s was applied twice", change)
				}
			}
		}
	}
	a.full = a.full && len(pass.Missed) > 0
	m.world.records = a.snapshot
	return len(m.world.problems()) == 0, nil
}

// report is what an agent sees, while the cluster goes on.
func (m *storedModel) report(a *agent, random *rand.Rand) lifecycle.Report {
	m.mu.Lock()
	defer m.mu.Unlock()
	if random.IntN(2) == 0 {
		m.world.progress()
	}
	if random.IntN(10) == 0 {
		clear(a.reported) // it does not know that its report has arrived
	}
	report := lifecycle.Report{Full: a.full}
	for _, key := range slices.Sorted(maps.Keys(m.world.cluster)) {
		if s := m.world.cluster[key]; a.full || a.reported[key] != s.actual {
			report.Workspaces = append(report.Workspaces,
				lifecycle.Reported{ID: key, Incarnation: s.incarnation, Actual: s.actual})
		}
	}
	return report
}

// apply brings a change about, unless there is a newer one now.
func (m *storedModel) apply(ctx context.Context, a *agent, w lifecycle.Answered) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, id := lifecycle.SplitKey(w.ID)
	r, err := m.stored.place.Of(m.stored.namespace).Get(ctx, id)
	if err == nil {
		m.world.records = map[string]lifecycle.Record{w.ID: r}
		m.world.apply(a, w)
	}
	return err
}
