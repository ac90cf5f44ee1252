package live

import (
	"slices"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/wording"
)

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
		return it.kind == scriptItem && it.state == running && it.script.Object == s.Object && it.script.Number == s.Number
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
