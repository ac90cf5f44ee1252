package wording

import (
	"fmt"
	"strings"

	"github.com/berthdev/berth/internal/fault"
)

// Tally counts how workspaces ended. One that came too late has failed, too.
type Tally struct {
	all, done, failed, late, Interrupted int
	word                                 string // for those that are done
}

// Tally counts the endings of a batch.
func (b Batch) Tally(es Endings) Tally {
	t := Tally{word: b.done()}
	for _, item := range es.items {
		t.all++
		switch {
		case item.err == nil:
			t.done++
		case IsInterrupt(*item.err):
			t.Interrupted++
		case fault.Code(item.err.Code) == fault.DeadlineExceeded:
			t.late++
			t.failed++
		default:
			t.failed++
		}
	}
	return t
}

// Headline says how it ended, in two halves.
func (t Tally) Headline(took string) (head, rest string) {
	var parts []string
	switch {
	case t.Interrupted > 0:
		head = "Interrupted after " + took
		parts = append(parts, fmt.Sprintf("%d of %d %s", t.done, t.all, t.word), fmt.Sprintf("%d no longer followed", t.Interrupted))
	case t.failed == 0:
		return fmt.Sprintf("%d %s in %s", t.done, t.word, took), ""
	default:
		head = fmt.Sprintf("%d of %d %s after %s", t.done, t.all, t.word, took)
	}
	if n := t.failed - t.late; n > 0 {
		parts = append(parts, fmt.Sprintf("%d failed", n))
	}
	if t.late > 0 {
		parts = append(parts, fmt.Sprintf("%d timed out", t.late))
	}
	return head, strings.Join(parts, ", ")
}

// Next is what one would type after all.
func (b Batch) Next(t Tally) []Command {
	again := Command{Line: b.Again}
	switch {
	case t.Interrupted > 0:
		again.Why = "follow again"
		if b.deletes() {
			again.Why = "go on"
		}
	case t.late > 0:
		again.Why = "wait again"
	case t.failed > 0:
		again.Why = "try again what is not " + t.word
	case b.deletes():
		return nil
	default:
		return []Command{{strings.Join(append([]string{"berth", "status"}, b.Flags...), " "), "everything that there is"}}
	}
	if again.Line == "" {
		return nil
	}
	return []Command{again}
}
