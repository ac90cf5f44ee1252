package live

import (
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// crowd is everything the live view of several workspaces knows. Each of them
// has the model that it would have alone.
type crowd struct {
	batch  wording.Batch
	rows   []*model
	byID   map[string]*model
	begun  time.Time
	ended  time.Time
	result *v1.Result
}

func newCrowd(b wording.Batch) *crowd {
	c := &crowd{batch: b, byID: map[string]*model{}}
	for _, title := range b.Members {
		m := &model{title: title}
		c.rows, c.byID[title.ID] = append(c.rows, m), m
	}
	return c
}

// handle gives an event to whom it is about.
func (c *crowd) handle(e v1.Event) {
	if c.begun.IsZero() {
		c.begun = e.At
	}
	if e.Result != nil {
		c.result, c.ended = e.Result, e.At
	}
	if m := c.byID[e.Workspace]; m != nil {
		m.handle(wording.Alone(e))
	}
}

func (c *crowd) blank() bool { return c.begun.IsZero() }

// standing is how far one of several is.
type standing int

// What asks for a look comes first.
const (
	atWork standing = iota
	queued
	lost
	ready
)

func standingOf(m *model) standing {
	switch {
	case m.result != nil && m.result.Error != nil:
		return lost
	case m.result != nil:
		return ready
	case m.begun.IsZero():
		return queued
	default:
		return atWork
	}
}

// count counts the rows by how far they are.
func count(rows []*model) (counts [ready + 1]int) {
	for _, m := range rows {
		counts[standingOf(m)]++
	}
	return counts
}
