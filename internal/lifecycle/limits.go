package lifecycle

import (
	"cmp"
	"fmt"
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

// Hours are limits as a blueprint and the configuration have them: 0 is for ever, nil says
// nothing.
type Hours struct {
	MaxActiveHours  *float64 `json:"maxActiveHours,omitempty"`
	MaxStoppedHours *float64 `json:"maxStoppedHours,omitempty"`
	MaxAgeHours     *float64 `json:"maxAgeHours,omitempty"`
}

// Limits are the limits of the configuration, which hold where a blueprint says nothing.
func (h Hours) Limits() Limits { return Limits{}.under(h) }

// For are the limits of one workspace: what its blueprint says, else these.
func (l Limits) For(r Record) Limits { return l.under(r.Limits) }

// under are the limits with what hours say instead.
func (l Limits) under(h Hours) Limits {
	return Limits{
		Active:  duration(h.MaxActiveHours, l.Active),
		Stopped: duration(h.MaxStoppedHours, l.Stopped),
		Age:     duration(h.MaxAgeHours, l.Age),
	}
}

func duration(hours *float64, otherwise time.Duration) time.Duration {
	if hours == nil {
		return otherwise
	}
	return time.Duration(*hours * float64(time.Hour))
}

// Has reports whether they say something about a limit, by its name in a blueprint.
func (h Hours) Has(limit string) bool {
	return map[string]*float64{
		MaxActive: h.MaxActiveHours, MaxStopped: h.MaxStoppedHours,
		MaxAge: h.MaxAgeHours,
	}[limit] != nil
}

// maxHours is a hundred years, more than blueprints can say and less than a Duration has.
const maxHours = 100 * 365 * 24

// check names a limit that no blueprint has.
func (h Hours) check() error {
	for _, hours := range []*float64{h.MaxActiveHours, h.MaxStoppedHours, h.MaxAgeHours} {
		if h := cmp.Or(hours, new(float64)); !(*h >= 0 && *h <= maxHours) {
			return fmt.Errorf("its limit of %g hours is out of range", *h)
		}
	}
	return nil
}
