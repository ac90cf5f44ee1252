package lifecycle_test

import (
	"strings"
	"testing"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/store"
)

// What a blueprint says holds; what it leaves out is as the configuration has it.
func TestLimitsOfARecord(t *testing.T) {
	hours := func(active, stopped, age *float64) lifecycle.Hours {
		return lifecycle.Hours{MaxActiveHours: active, MaxStoppedHours: stopped, MaxAgeHours: age}
	}
	limits := func(active, stopped, age time.Duration) lifecycle.Limits {
		return lifecycle.Limits{Active: active, Stopped: stopped, Age: age}
	}
	for name, c := range map[string]struct {
		configuration, blueprint lifecycle.Hours
		want                     lifecycle.Limits
	}{
		"nobody says anything": {hours(nil, nil, nil), hours(nil, nil, nil), limits(0, 0, 0)},
		"the configuration": {
			hours(new(36.0), new(744.0), new(8760.0)), hours(nil, nil, nil),
			limits(36*time.Hour, 744*time.Hour, 8760*time.Hour),
		},
		"the blueprint": {
			hours(nil, nil, nil), hours(new(0.5), nil, new(1.25)),
			limits(30*time.Minute, 0, 75*time.Minute),
		},
		"both": {
			hours(new(36.0), new(744.0), nil), hours(new(72.0), nil, new(100.0)),
			limits(72*time.Hour, 744*time.Hour, 100*time.Hour),
		},
		"the blueprint has no limit": {
			hours(new(36.0), new(744.0), new(8760.0)), hours(new(0.0), new(0.0), new(0.0)), limits(0, 0, 0),
		},
		"the configuration has none": {hours(new(0.0), nil, nil), hours(nil, nil, nil), limits(0, 0, 0)},
	} {
		r := lifecycle.Record{ID: workspace, Limits: c.blueprint}
		if got := c.configuration.Limits().For(r); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// A limit of a record is kept with it. Only what changes a record is written.
func TestLimitsAreRecorded(t *testing.T) {
	s := lifecycle.Records{Store: bucket(t)}
	limited := func(hours float64) func(lifecycle.Record) (lifecycle.Record, error) {
		return func(r lifecycle.Record) (lifecycle.Record, error) {
			r.Limits.MaxActiveHours = &hours
			return r, nil
		}
	}
	revision := func() string {
		d, err := s.Store.Get(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		return d.Revision
	}
	change(t, s, "a", created("a"))
	for _, hours := range []float64{0.5, 0} {
		change(t, s, "a", limited(hours))
		written := revision()
		change(t, s, "a", limited(hours))
		if revision() != written {
			t.Errorf("the same limit of %g hours is written again", hours)
		}
		if r, err := s.Get(t.Context(), "a"); err != nil || r.Limits.MaxActiveHours == nil ||
			*r.Limits.MaxActiveHours != hours || r.Limits.Has(lifecycle.MaxAge) {
			t.Errorf("%+v, %v; want %g hours", r.Limits, err, hours)
		}
	}
}

// A record with a limit that no blueprint can have is damaged.
func TestDamagedLimits(t *testing.T) {
	s := lifecycle.Records{Store: bucket(t)}
	for _, limits := range []string{`{"maxActiveHours":-1}`, `{"maxStoppedHours":1e300}`, `{"maxAgeHours":"1"}`} {
		text := `{"id":"a","desired":"Running","actual":"Running","createdAt":"2026-01-01T00:00:00Z","desiredAt":"2026-01-01T00:00:00Z","actualAt":"2026-01-01T00:00:00Z","limits":` + limits + `}`
		if _, err := s.Store.Put(t.Context(), store.Document{Key: "a", Value: []byte(text)}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Change(t.Context(), "a", set(v1.DesiredStopped)); fault.CodeOf(err) != fault.Failed ||
			!strings.Contains(err.Error(), "workspace a cannot be read") {
			t.Errorf("%s: %v", limits, err)
		}
	}
}
