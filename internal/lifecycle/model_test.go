package lifecycle_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/lifecycle"
)

// Users, two agents and a cluster, one step at a time in an order that chance makes, with
// answers that get lost, reports that are repeated and agents that start again. What a user
// wants always comes about, nothing is applied twice for one change unless an answer was
// lost, and what is terminated stays so.
func TestModel(t *testing.T) {
	for seed := range uint64(1500) {
		m := newModel(rand.New(rand.NewPCG(seed, 1)))
		m.reliable = seed%2 == 0
		for range 80 {
			m.step()
		}
		m.rest()
		if problems := m.problems(); len(problems) > 0 {
			t.Fatalf("seed %d: %q\n%s", seed, problems, m.story())
		}
	}
}

// model is all of it. The records are written only in the version that was read.
type model struct {
	random   *rand.Rand
	now      time.Time
	records  map[string]lifecycle.Record
	versions map[string]int
	cluster  map[string]*standing
	agents   [2]*agent
	applied  map[string]int // how often, by workspace, incarnation and change
	reliable bool           // no agent ends
	wrong    []string
	log      []string
}

// standing is a workspace on the cluster: what was applied, and how far it got.
type standing struct {
	incarnation string
	desired     v1.DesiredState
	actual      v1.ActualState
}

// agent is what an agent remembers.
type agent struct {
	full     bool
	reported map[string]v1.ActualState   // what it has reported
	snapshot map[string]lifecycle.Record // what it has read; nil between exchanges
	versions map[string]int
	todo     []lifecycle.Answered
}

func newAgent() *agent { return &agent{full: true, reported: map[string]v1.ActualState{}} }

func newModel(random *rand.Rand) *model {
	return &model{
		random: random, records: map[string]lifecycle.Record{}, versions: map[string]int{},
		cluster: map[string]*standing{},
		agents:  [2]*agent{newAgent(), newAgent()}, applied: map[string]int{},
	}
}

func (m *model) story() (text string) {
	for _, line := range m.log[max(0, len(m.log)-60):] {
		text += line + "\n"
	}
	return text
}

// step is anything that can happen.
func (m *model) step() {
	m.now = m.now.Add(time.Second)
	a := m.agents[m.random.IntN(2)]
	switch n := m.random.IntN(20); {
	case n < 3:
		m.user([]string{"a", "b"}[m.random.IntN(2)])
	case n < 6:
		m.progress()
	case n == 6 && !m.reliable:
		*a = *newAgent() // it starts again: all that it was about to do is lost
	case n == 7:
		clear(a.reported) // it does not know that its report has arrived
	default:
		m.act(a)
	}
}

// user makes a workspace, or wants something of it.
func (m *model) user(id string) {
	r, ok := m.records[id]
	if !ok || r.Done() {
		m.put(lifecycle.New(id, fmt.Sprint(m.now.Unix()), m.now))
		return
	}
	all := []v1.DesiredState{v1.DesiredRunning, v1.DesiredStopped, v1.DesiredRestart, v1.DesiredTerminated}
	changed, err := r.Set(all[m.random.IntN(len(all))], m.now)
	if err == nil {
		m.put(changed)
	}
}

func (m *model) put(r lifecycle.Record) {
	if before := m.records[r.ID]; before.Incarnation == r.Incarnation && before.Desired == v1.DesiredTerminated &&
		r.Desired != before.Desired {
		m.wrong = append(m.wrong, r.ID+" was terminated and is wanted again")
	}
	m.records[r.ID] = r
	m.versions[r.ID]++
	m.log = append(m.log, fmt.Sprintf("%s (changed %d, answered %d)", r, r.Changed, r.Answered))
}

// progress brings a workspace closer to what was applied.
func (m *model) progress() {
	for _, id := range slices.Sorted(maps.Keys(m.cluster)) {
		s := m.cluster[id]
		switch {
		case s.desired == v1.DesiredRunning && s.actual == v1.ActualStarting:
			s.actual = v1.ActualRunning
		case s.desired == v1.DesiredRunning && s.actual != v1.ActualRunning:
			s.actual = v1.ActualStarting
		case s.desired == v1.DesiredTerminated && s.actual == v1.ActualTerminating:
			s.actual = v1.ActualTerminated
		case s.desired == v1.DesiredTerminated && s.actual != v1.ActualTerminated:
			s.actual = v1.ActualTerminating
		case s.desired != v1.DesiredRunning && s.actual == v1.ActualStopping:
			s.actual = v1.ActualStopped
		case s.desired != v1.DesiredRunning && s.desired != v1.DesiredTerminated && s.actual != v1.ActualStopped:
			s.actual = v1.ActualStopping
		}
	}
}

// act is the next thing that an agent does: it reads, writes its exchange, applies.
func (m *model) act(a *agent) {
	switch {
	case len(a.todo) > 0:
		m.apply(a, a.todo[0])
		a.todo = a.todo[1:]
	case a.snapshot == nil:
		a.snapshot, a.versions = maps.Clone(m.records), maps.Clone(m.versions)
	default:
		m.exchange(a)
		a.snapshot = nil
	}
}

// exchange writes each record in the version that was read. What was changed meanwhile is
// left to the next exchange.
func (m *model) exchange(a *agent) {
	report := lifecycle.Report{Full: a.full}
	for _, id := range slices.Sorted(maps.Keys(m.cluster)) {
		if s := m.cluster[id]; a.full || a.reported[id] != s.actual {
			report.Workspaces = append(report.Workspaces,
				lifecycle.Reported{ID: id, Incarnation: s.incarnation, Actual: s.actual})
		}
	}
	changed, answer, err := lifecycle.Exchange(a.snapshot, report, unlimited, lifecycle.NextMark(a.snapshot, m.now))
	if err != nil {
		m.wrong = append(m.wrong, err.Error())
		return
	}
	conflict := map[string]bool{}
	for id, r := range changed {
		if conflict[id] = m.versions[id] != a.versions[id]; !conflict[id] {
			m.put(r)
		}
	}
	for _, w := range report.Workspaces {
		if a.reported[w.ID] = w.Actual; conflict[w.ID] {
			delete(a.reported, w.ID)
		}
	}
	full := a.full
	a.full = false
	for _, w := range answer.Workspaces {
		switch {
		case conflict[w.ID]:
			a.full = full // the rest of a full one is still to come
		case w.Apply:
			a.todo = append(a.todo, w)
			if !full {
				m.applied[fmt.Sprint(w.ID, w.Incarnation, w.Changed)]++
			}
		}
	}
}

// apply brings a change about, unless there is a newer one. What was applied is reported.
func (m *model) apply(a *agent, w lifecycle.Answered) {
	r := m.records[w.ID]
	if r.Incarnation != w.Incarnation || r.Changed != w.Changed {
		return
	}
	s, ok := m.cluster[w.ID]
	if !ok || s.incarnation != w.Incarnation {
		s = &standing{incarnation: w.Incarnation, actual: v1.ActualStarting}
		m.cluster[w.ID] = s
	}
	s.desired = w.Desired
	delete(a.reported, w.ID)
	m.log = append(m.log, fmt.Sprintf("%s: applied %s (%d)", w.ID, w.Desired, w.Changed))
}

// rest lets everything come to its end, and nobody wants anything any more. What was lost
// is found by a full exchange.
func (m *model) rest() {
	for _, a := range m.agents {
		a.full = a.full || !m.reliable
	}
	for range 60 {
		m.now = m.now.Add(time.Second)
		m.progress()
		for _, a := range m.agents {
			for range 4 {
				m.act(a)
			}
		}
	}
}

// problems are what must not be so at the end.
func (m *model) problems() []string {
	problems := slices.Clone(m.wrong)
	ends := map[v1.DesiredState]v1.ActualState{
		v1.DesiredRunning: v1.ActualRunning, v1.DesiredStopped: v1.ActualStopped,
		v1.DesiredTerminated: v1.ActualTerminated,
	}
	for id, r := range m.records {
		if s := m.cluster[id]; s == nil || ends[r.Desired] == "" || s.actual != ends[r.Desired] ||
			r.Actual != s.actual {
			problems = append(problems, fmt.Sprintf("%s, on the cluster %+v", r, s))
		}
	}
	for change, n := range m.applied {
		if n > 1 {
			problems = append(problems, fmt.Sprintf("%s was applied %d times", change, n))
		}
	}
	return problems
}
