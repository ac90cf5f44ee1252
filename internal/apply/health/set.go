package health

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/apply/live"
)

// set is what is known of a set of objects.
type set struct {
	order    []reference
	given    map[reference]*unstructured.Unstructured // as they were applied
	own      map[reference]Reading                    // by their own status
	again    map[reference]time.Time                  // when their own status has to be read again; zero for never
	readings map[reference]Reading                    // and by what is behind them
	behind   Inspector                                // nil if nothing is looked behind

	failing map[reference]time.Time // since when
	arrived time.Time               // when one became Current last that had not been
}

func newSet(objects []*unstructured.Unstructured, behind Inspector) *set {
	s := &set{
		given: map[reference]*unstructured.Unstructured{}, own: map[reference]Reading{}, behind: behind,
		readings: map[reference]Reading{}, again: map[reference]time.Time{}, failing: map[reference]time.Time{},
	}
	for _, object := range objects {
		at := referenceTo(object)
		s.order = append(s.order, at)
		s.own[at], s.readings[at], s.given[at] = Reading{Object: object}, Reading{Object: object}, object
	}
	return s
}

// deeper is closed with the next change of what is behind the objects; nil if nothing is looked behind.
func (s *set) deeper() <-chan struct{} {
	if s.behind == nil {
		return nil
	}
	return s.behind.Changed()
}

// read takes the view as it is now. The time is when it has to be read again though nothing has
// changed, zero for never.
func (s *set) read(view *live.View, changed func(Reading)) (again time.Time) {
	found := map[reference]*unstructured.Unstructured{}
	for _, object := range view.Objects() {
		found[referenceTo(object)] = object
	}
	for _, at := range s.order {
		before, object := s.readings[at], found[at]
		now, isKnown := s.ownReading(at, object)
		s.own[at] = now
		again = earlier(again, s.again[at])
		if s.behind != nil && isKnown && now.State != Current {
			var next time.Time
			now, next = s.behind.Inspect(now)
			again = earlier(again, next)
		}
		s.readings[at] = now
		if now.State == Current && before.State != "" && before.State != Current {
			s.arrived = time.Now()
		}
		if now.State != before.State || now.Message != before.Message {
			changed(now)
		}
	}
	return again
}

// ownReading reads an object by its own status; not known if that is of before it was applied.
func (s *set) ownReading(at reference, object *unstructured.Unstructured) (now Reading, isKnown bool) {
	now = s.own[at]
	switch {
	case object == nil:
		now.State, now.Message = InProgress, "it does not exist"
		return now, false
	case isOlder(object, s.given[at]):
		now.State, now.Message = InProgress, "it has just been applied"
		return now, false
	case object != now.Object || now.State == "" || !s.again[at].IsZero():
		now.Object = object
		now.State, now.Message, s.again[at] = stateAt(object, time.Now())
	}
	return now, true
}

// not are the readings with none of these states, in the order of the set.
func (s *set) not(states ...State) (rest []Reading) {
next:
	for _, at := range s.order {
		for _, state := range states {
			if s.readings[at].State == state {
				continue next
			}
		}
		rest = append(rest, s.readings[at])
	}
	return rest
}

// How long a failure is waited for that another object may end: as long as there are others
// on their way, and a while after the last of them has come, within bounds.
const (
	othersTime = 2 * time.Minute
	afterTime  = time.Minute
	settleTime = time.Second
)

// failed notes which objects have failed, and says until when they are waited for.
func (s *set) failed(failed []Reading, now time.Time) (until time.Time) {
	since := map[reference]time.Time{}
	others := len(s.not(Current, Failed)) > 0
	for _, r := range failed {
		at := referenceTo(r.Object)
		if since[at] = s.failing[at]; since[at].IsZero() {
			since[at] = now
		}
		ends := now
		if r.Cause != nil { // several watches have said that, one of which may be late
			ends = since[at].Add(settleTime)
		}
		if r.MayPass {
			ends = mayPassUntil(since[at], s.arrived, others)
		}
		until = earlier(until, ends)
	}
	s.failing = since
	return until
}

// mayPassUntil says until when a failure is waited for that another object may end: others says
// whether there are any on their way, and arrived when the last one became Current.
func mayPassUntil(since, arrived time.Time, others bool) time.Time {
	switch {
	case others:
		return since.Add(othersTime)
	case !arrived.IsZero():
		return earlier(since.Add(othersTime), arrived.Add(afterTime))
	}
	return since.Add(settleTime)
}

// IsOver reports whether one of the objects that are not Current has failed for good; lasted is
// how long they have not been Current.
func IsOver(rest []Reading, lasted time.Duration) bool {
	return slices.ContainsFunc(rest, func(r Reading) bool {
		return r.State == Failed && (!r.MayPass || lasted >= othersTime)
	})
}
