package live

import (
	"slices"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// attachedAfter is how much older than the first event a stage must be to have
// begun without us. Less than that is the cluster's clock, which has full seconds
// and may differ from ours.
const attachedAfter = 5 * time.Second

// stage takes a new reading: it ends the running stage if another has begun.
func (m *model) stage(s v1.Snapshot, at time.Time) {
	m.snapshot, m.progress = s, nil // news is a better sign of life
	i := m.current(stageItem, "")
	from := at
	if i >= 0 && m.items[i].name != string(s.Stage) {
		from = s.BeganAt(m.items[i].begun, at)
		m.endStage(&m.items[i], s, from)
		m.items = append(m.items, m.warnings.archive()...)
		i = -1
	}
	m.warnings.reading = wording.LastingWarnings(s.Warnings)
	if i < 0 && wording.InProgress(s) {
		m.items = append(m.items, item{kind: stageItem, name: string(s.Stage), begun: m.stageBegun(s, from)})
		i = len(m.items) - 1
	}
	if i >= 0 {
		m.items[i].message = s.Message
	}
}

func (m *model) endStage(it *item, next v1.Snapshot, at time.Time) {
	it.state, it.took = done, at.Sub(it.begun)
	if next.Stage == v1.StageFailed {
		it.state = failed
	}
	switch { // what it was waiting for is of no interest any more
	case it.name == string(v1.StageScheduling) && next.Node != "":
		it.message = next.Node
	case it.name == string(v1.StageStarting) && next.Stage != v1.StageFailed:
		it.message = "" // it goes on, or an image is pulled after all
	}
}

// stageBegun trusts our own clock, except for what was there before us.
func (m *model) stageBegun(s v1.Snapshot, at time.Time) time.Time {
	sawStage := slices.ContainsFunc(m.items, func(it item) bool { return it.kind == stageItem })
	if !s.Since.IsZero() && m.begun.Sub(s.Since) > attachedAfter && !sawStage {
		return s.Since
	}
	return at
}

// script takes what has become of an init script. They run the same in all pods of a workload:
// those of the first one are shown, and of the others what fails.
func (m *model) script(s v1.Script, at time.Time) {
	m.progress = nil
	i := m.shownScript(s)
	if i < 0 {
		elsewhere := func(it item) bool {
			return it.kind == scriptItem && it.script.Object != s.Object && m.isThere(it.script.Pod())
		}
		if s.State != v1.ScriptFailed && slices.ContainsFunc(m.items, elsewhere) {
			return
		}
		m.items = append(m.items, item{kind: scriptItem, name: s.Name, begun: at})
		i = len(m.items) - 1
	}
	it := &m.items[i]
	it.script, it.message = s, wording.ScriptText(s, m.title.ID)
	switch s.State {
	case v1.ScriptDone, v1.ScriptSkipped:
		it.state = done
	case v1.ScriptFailed:
		it.state = warned
	default:
		return
	}
	if it.took = style.Seconds(s.Seconds); it.took == 0 && s.State != v1.ScriptSkipped {
		it.took = at.Sub(it.begun)
	}
}

// isThere is false for a pod of a workload that has been replaced.
func (m *model) isThere(pod string) bool {
	replicas := m.snapshot.Replicas
	return len(replicas) == 0 || slices.ContainsFunc(replicas, func(r v1.Replica) bool { return r.Name == pod })
}

// shownScript is the item of a script that runs; one that the container runs again after it
// was restarted is another one.
func (m *model) shownScript(s v1.Script) int {
	return slices.IndexFunc(m.items, func(it item) bool {
		return it.kind == scriptItem && it.state == running && it.script.Object == s.Object &&
			it.script.Number == s.Number
	})
}

// leaveOut leaves out what a script has said where the result says it.
func (m *model) leaveOut(tail *v1.LogTail) {
	for i := range m.items {
		if it := &m.items[i]; it.kind == scriptItem && tail != nil && it.name == tail.Script {
			it.script.Lines = nil
		}
	}
}

// warningList has the warnings of the running stage. A warning comes by itself, in
// a reading of the workspace, or both; it is one line with a count either way.
type warningList struct {
	reading []v1.Warning // of the newest reading, in which the analyzer has merged them
	others  []v1.Warning
	// written are those that are history already, with the count of then.
	written map[wording.WarningKey]int
}

// about says whether two warnings are about the same thing; the message may
// differ: "0/3 nodes…" changes with every attempt.
func about(w v1.Warning) func(v1.Warning) bool {
	return func(o v1.Warning) bool { return o.Reason == w.Reason && o.Object == w.Object }
}

// add adds one warning; it replaces what was said about the same thing.
func (l *warningList) add(w v1.Warning, at time.Time) {
	if w.At.IsZero() {
		w.At = at
	}
	if i := slices.IndexFunc(l.others, about(w)); i >= 0 {
		w.Count = max(w.Count, l.others[i].Count)
		l.others = slices.Delete(l.others, i, i+1)
	}
	l.others = append(l.others, w)
}

// current are the warnings to show, the newest last.
func (l *warningList) current() []v1.Warning {
	var ws []v1.Warning
	for _, w := range l.others {
		if !slices.ContainsFunc(l.reading, about(w)) {
			ws = append(ws, w)
		}
	}
	ws = append(ws, l.reading...)
	return slices.DeleteFunc(ws, func(w v1.Warning) bool {
		count, ok := l.written[wording.KeyOf(w)]
		return ok && w.Count <= count
	})
}

// archive makes history of the warnings, and clears the list.
func (l *warningList) archive() []item {
	if l.written == nil {
		l.written = map[wording.WarningKey]int{}
	}
	var items []item
	for _, w := range l.current() {
		key := wording.KeyOf(w)
		if _, known := l.written[key]; !known {
			items = append(items, item{kind: warningItem, state: done, warning: w})
		}
		l.written[key] = w.Count
	}
	l.reading, l.others = nil, nil
	return items
}
