package terminal

import (
	"time"

	v1 "github.com/berthdev/berth/api/v1"
)

// Batch is what a command works on that works on several workspaces.
type Batch struct {
	// Members are in the order in which they were asked for.
	Members   []Title
	Namespace string
	// Parallel is how many of them are worked on at the same time.
	Parallel int
	// Flags are those that led here: see Title.
	Flags []string
	// Again is the command that takes up what is not done.
	Again string
}

// crowd is everything the live view of several workspaces knows. Each of them
// has the model that it would have alone.
type crowd struct {
	batch  Batch
	rows   []*model
	byID   map[string]*model
	begun  time.Time
	ended  time.Time
	result *v1.Result
}

func newCrowd(b Batch) *crowd {
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
		m.handle(alone(e))
	}
}

// alone is an event of a batch as it would be on a stream of its own.
func alone(e v1.Event) v1.Event {
	if e.Outcome != nil {
		e.Result, e.Outcome = e.Outcome, nil
	}
	return e
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
