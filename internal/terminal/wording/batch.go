package wording

import (
	v1 "github.com/berthdev/berth/api/v1"
)

// Batch is what a command works on that works on several workspaces.
type Batch struct {
	// Members are in the order in which they were asked for.
	Members []Title
	// Single is set for a command that works on the one member, and whose result
	// is not a summary.
	Single    bool
	Namespace string
	// Parallel is how many of them are worked on at the same time.
	Parallel int
	// Flags are those that led here: see Title.
	Flags []string
	// Again is the command that takes up what is not done.
	Again string
}

// deletes tells a batch that removes workspaces from one that makes them.
func (b Batch) deletes() bool { return len(b.Members) > 0 && b.Members[0].Verb == "delete" }

// done is how one calls those that have ended well.
func (b Batch) done() string {
	if b.deletes() {
		return "deleted"
	}
	return "running"
}

// Alone is an event of a batch as it would be on a stream of its own.
func Alone(e v1.Event) v1.Event {
	if e.Outcome != nil {
		e.Result, e.Outcome = e.Outcome, nil
	}
	return e
}
