package result

import (
	"strings"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal/style"
)

// limit is what a limit has made of the workspace, and what one will make of it.
func (w Workspace) limit(p style.Page) string {
	var parts []string
	if s := w.State; s != nil && s.Reason != "" {
		parts = append(parts, reached(*s)+" "+style.Age(s.DesiredAt, p.Now)+" ago by "+s.Reason)
	}
	if hasNext(w.Workspace) {
		next := w.State.Next
		parts = append(parts, due(*next, p.Now)+" ("+next.Limit+" of the "+string(next.From)+")")
	}
	return p.Text(strings.Join(parts, "; "))
}

// reached says what a limit has made of a workspace.
func reached(s v1.State) string {
	switch {
	case s.Desired != v1.DesiredStopped:
		return "set to be deleted"
	case s.Actual != v1.ActualStopped:
		return "set to stop"
	}
	return "stopped"
}

// due says what a limit makes of a workspace, and when. A time that is over shows that
// nothing enforces the limit.
func due(next v1.NextState, now time.Time) string {
	stops := next.Desired == v1.DesiredStopped
	switch {
	case next.At.Before(now) && stops:
		return "was to stop " + style.Age(next.At, now) + " ago"
	case next.At.Before(now):
		return "was to be deleted " + style.Age(next.At, now) + " ago"
	case stops:
		return "stops in " + style.Age(now, next.At)
	}
	return "is deleted in " + style.Age(now, next.At)
}

func hasNext(w v1.Workspace) bool { return w.State != nil && w.State.Next != nil }

// limitOf is what a limit makes of a workspace, in a list.
func limitOf(w v1.Workspace, now time.Time) string {
	if !hasNext(w) {
		return ""
	}
	return due(*w.State.Next, now)
}
