package live

import (
	"slices"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal/wording"
)

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
