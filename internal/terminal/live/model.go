package live

import (
	"cmp"
	"slices"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal/result"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// batchModel is everything that the live view knows. It is made of events alone.
type batchModel struct {
	wording.Batch
	members []*model
	byID    map[string]*model
	begun   time.Time
	ended   time.Time
	result  *v1.Result
}

func newBatchModel(b wording.Batch) *batchModel {
	all := &batchModel{Batch: b, byID: map[string]*model{}}
	for _, title := range b.Members {
		m := &model{title: title}
		all.members, all.byID[title.ID] = append(all.members, m), m
	}
	return all
}

// handle gives an event to the workspace that it is about.
func (b *batchModel) handle(e v1.Event) {
	if b.begun.IsZero() {
		b.begun = e.At
	}
	if e.Result != nil {
		b.result, b.ended = e.Result, e.At
	}
	m := b.byID[e.Workspace]
	if b.Single {
		m = b.members[0]
	}
	if m != nil {
		m.handle(e)
	}
}

// model is what is known about one workspace.
type model struct {
	title    wording.Title
	begun    time.Time
	items    []item
	snapshot v1.Snapshot
	warnings warningList
	progress *v1.Progress
	ending   result.Ending // nil until it has ended
	ended    time.Time
}

// item is one line of the story: a step, a stage, an init script, or a warning that is
// history.
type item struct {
	kind    itemKind
	name    string
	message string
	state   itemState
	begun   time.Time
	took    time.Duration
	warning v1.Warning
	script  v1.Script
}

type itemKind int

const (
	stepItem itemKind = iota
	stageItem
	scriptItem
	warningItem
)

type itemState int

const (
	running itemState = iota
	done
	failed
	stopped // given up while running
	warned  // failed, and that is no failure
)

// handle adds an event to the picture.
func (m *model) handle(e v1.Event) {
	if m.begun.IsZero() {
		m.begun = e.At
	}
	switch {
	case e.Step != nil:
		m.step(*e.Step, e.At)
	case e.Stage != nil:
		m.stage(*e.Stage, e.At)
	case e.Warning != nil && !e.Warning.Tentative:
		m.warnings.add(*e.Warning, e.At)
	case e.Script != nil:
		m.script(*e.Script, e.At)
	case e.Progress != nil:
		m.progress = e.Progress
	case e.Result != nil || e.Outcome != nil:
		m.finish(result.Of(*cmp.Or(e.Result, e.Outcome), wording.Batch{}), e.At)
	}
}

func (m *model) step(s v1.Step, at time.Time) {
	m.progress = nil
	i := m.current(stepItem, s.Name)
	if i < 0 {
		m.items = append(m.items, item{kind: stepItem, name: s.Name, begun: at})
		i = len(m.items) - 1
	}
	it := &m.items[i]
	if s.Message != "" {
		it.message = s.Message
	}
	switch s.State {
	case v1.StepEnded:
		it.state = done
	case v1.StepFailed:
		it.state = failed
	default:
		return
	}
	if it.took = style.Seconds(s.Seconds); it.took == 0 {
		it.took = at.Sub(it.begun)
	}
}

// current finds the item of a kind that is still running; with a name, that one.
func (m *model) current(kind itemKind, name string) int {
	for i, it := range slices.Backward(m.items) {
		if it.kind == kind && it.state == running && (name == "" || it.name == name) {
			return i
		}
	}
	return -1
}

// finish ends what still runs, in the way in which the command ended.
func (m *model) finish(e result.Ending, at time.Time) {
	m.ending, m.ended, m.progress = e, at, nil
	state := done
	if err, ok := e.(result.Error); ok {
		if state = failed; err.Stopped() {
			state = stopped
		}
		m.leaveOut(err.Logs)
	}
	m.end(state, at)
}

// abandon ends the story without a result.
func (m *model) abandon(at time.Time) {
	m.progress = nil
	m.end(stopped, at)
}

// end closes the items that run, and makes history of the warnings.
func (m *model) end(state itemState, at time.Time) {
	for i := range m.items {
		if it := &m.items[i]; it.state == running {
			it.state, it.took = state, at.Sub(it.begun)
		}
	}
	m.items = append(m.items, m.warnings.archive()...)
}
