package live

import (
	"slices"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// board holds the warnings of the running stage. A warning comes alone, in a
// reading of the workspace, or both; it is one line with a count either way.
type board struct {
	reading []v1.Warning // of the newest reading: the analyzer has folded them
	alone   []v1.Warning
	// told are those that are history already, with the count told then.
	told map[wording.WarningKey]int
}

// about says whether two warnings are about the same thing; the message may
// differ: "0/3 nodes…" changes with every attempt.
func about(w v1.Warning) func(v1.Warning) bool {
	return func(o v1.Warning) bool { return o.Reason == w.Reason && o.Object == w.Object }
}

// add takes one warning; it replaces what was said about the same thing.
func (b *board) add(w v1.Warning, at time.Time) {
	if w.At.IsZero() {
		w.At = at
	}
	if i := slices.IndexFunc(b.alone, about(w)); i >= 0 {
		w.Count = max(w.Count, b.alone[i].Count)
		b.alone = slices.Delete(b.alone, i, i+1)
	}
	b.alone = append(b.alone, w)
}

// shown are the warnings to show, newest last.
func (b *board) shown() []v1.Warning {
	var ws []v1.Warning
	for _, w := range b.alone {
		if !slices.ContainsFunc(b.reading, about(w)) {
			ws = append(ws, w)
		}
	}
	ws = append(ws, b.reading...)
	return slices.DeleteFunc(ws, func(w v1.Warning) bool {
		told, ok := b.told[wording.KeyOf(w)]
		return ok && w.Count <= told
	})
}

// retire makes history of what is on the board, and clears it.
func (b *board) retire() []item {
	if b.told == nil {
		b.told = map[wording.WarningKey]int{}
	}
	var items []item
	for _, w := range b.shown() {
		b.told[wording.KeyOf(w)] = w.Count
		items = append(items, item{kind: warningItem, state: done, warning: w})
	}
	b.reading, b.alone = nil, nil
	return items
}
