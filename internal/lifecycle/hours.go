package lifecycle

import (
	"cmp"
	"fmt"
	"time"
)

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
