package live

import (
	"slices"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
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
