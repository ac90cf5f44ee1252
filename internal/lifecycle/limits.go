package lifecycle

import (
	"time"

	v1 "github.com/berthdev/berth/api/v1"
)

// Limits are for how long a workspace may stay in its desired state; 0 is for ever.
type Limits struct {
	Active  time.Duration // running: then it is stopped
	Stopped time.Duration // stopped: then it is deleted
	Age     time.Duration // from its creation: then it is deleted, whatever it is
}

// Ending is what a limit makes of a workspace.
type Ending struct {
	Desired v1.DesiredState
	Limit   string // the name of the limit in a blueprint
	At      time.Time
}

// The names of the limits in a blueprint.
const (
	MaxActive  = "maxActiveHours"
	MaxStopped = "maxStoppedHours"
	MaxAge     = "maxAgeHours"
)

// endings are what the limits make of the workspace as it is: the age first, which counts
// whatever else does.
func (l Limits) endings(r Record) (all []Ending) {
	if r.Desired == v1.DesiredTerminated {
		return nil
	}
	add := func(d v1.DesiredState, name string, begin time.Time, limit time.Duration) {
		if limit > 0 {
			all = append(all, Ending{d, name, begin.Add(limit)})
		}
	}
	add(v1.DesiredTerminated, MaxAge, r.CreatedAt, l.Age)
	if r.Desired == v1.DesiredStopped {
		add(v1.DesiredTerminated, MaxStopped, r.DesiredAt, l.Stopped)
	} else {
		add(v1.DesiredStopped, MaxActive, r.DesiredAt, l.Active)
	}
	return all
}

// Next is what a limit will make of the workspace if nothing changes until then.
func (l Limits) Next(r Record) (next Ending, ok bool) {
	for _, e := range l.endings(r) {
		if !ok || e.At.Before(next.At) {
			next, ok = e, true
		}
	}
	return next, ok
}

// Exceeded is what a limit that is reached makes of the workspace.
func (l Limits) Exceeded(r Record, now time.Time) (e Ending, ok bool) {
	for _, e := range l.endings(r) {
		if !now.Before(e.At) {
			return e, true
		}
	}
	return Ending{}, false
}
