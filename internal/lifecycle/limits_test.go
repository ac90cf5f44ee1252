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

// What limits make of a workspace that was created at hour 0 and changed at hour 10.
func TestLimits(t *testing.T) {
	begin := time.Date(2026, time.November, 22, 0, 0, 0, 0, time.UTC)
	hour := func(n int) time.Time { return begin.Add(time.Duration(n) * time.Hour) }
	active, stopped, age := 36*time.Hour, 744*time.Hour, 8760*time.Hour
	for name, c := range map[string]struct {
		limits  lifecycle.Limits
		desired v1.DesiredState
		now     int
		want    v1.DesiredState // with a limit that is exceeded
		next    int             // the hour of the next one
	}{
		"none":                      {lifecycle.Limits{}, v1.DesiredRunning, 1e5, "", 0},
		"running":                   {lifecycle.Limits{Active: active}, v1.DesiredRunning, 45, "", 46},
		"running for long":          {lifecycle.Limits{Active: active}, v1.DesiredRunning, 46, v1.DesiredStopped, 46},
		"restarting for long":       {lifecycle.Limits{Active: active}, v1.DesiredRestart, 46, v1.DesiredStopped, 46},
		"stopped, of another limit": {lifecycle.Limits{Active: active}, v1.DesiredStopped, 1e5, "", 0},
		"stopped for long": {
			lifecycle.Limits{Stopped: stopped},
			v1.DesiredStopped, 754, v1.DesiredTerminated,
			754,
		},
		"running, of another limit":  {lifecycle.Limits{Stopped: stopped}, v1.DesiredRunning, 1e5, "", 0},
		"old, counted from creation": {lifecycle.Limits{Age: age}, v1.DesiredRunning, 8760, v1.DesiredTerminated, 8760},
		"old and running for long": {
			lifecycle.Limits{Active: active, Age: age},
			v1.DesiredRunning, 9000,
			v1.DesiredTerminated, 46,
		},
		"deleted, whatever the limit": {
			lifecycle.Limits{Active: 1, Stopped: 1, Age: 1},
			v1.DesiredTerminated, 1e5, "",
			0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := lifecycle.Record{ID: workspace, CreatedAt: hour(0), DesiredAt: hour(10), Desired: c.desired}
			if e, ok := c.limits.Exceeded(r, hour(c.now)); e.Desired != c.want || ok != (c.want != "") {
				t.Errorf("at %d: %v, want %q", c.now, e, c.want)
			}
			if e, ok := c.limits.Next(r); ok != (c.next > 0) || ok && !e.At.Equal(hour(c.next)) {
				t.Errorf("next: %v, want at %d", e, c.next)
			}
		})
	}
}

// A limit changes what is wanted in the exchange that reaches it, once.
func TestExchangeLimits(t *testing.T) {
	begin := time.Date(2026, time.November, 22, 0, 0, 0, 0, time.UTC)
	r := lifecycle.New(workspace, "1", begin)
	r.Actual, r.Answered = v1.ActualRunning, r.Changed
	limits := func(lifecycle.Record) lifecycle.Limits { return lifecycle.Limits{Active: time.Hour} }
	records := map[string]lifecycle.Record{workspace: r}
	for _, c := range []struct {
		after   time.Duration
		desired v1.DesiredState
		apply   bool
	}{
		{time.Hour - 1, v1.DesiredRunning, false},
		{time.Hour, v1.DesiredStopped, true},
		{2 * time.Hour, v1.DesiredStopped, false},
	} {
		now := begin.Add(c.after)
		changed, answer, err := lifecycle.Exchange(records, lifecycle.Report{}, limits,
			lifecycle.NextMark(records, now))
		if err != nil {
			t.Fatal(err)
		}
		if r, ok := changed[workspace]; ok {
			records[workspace] = r
		}
		if got := records[workspace]; got.Desired != c.desired ||
			(got.Reason == lifecycle.MaxActive) != (c.desired == v1.DesiredStopped) {
			t.Errorf("after %s: %s for %q", c.after, got, got.Reason)
		}
		if applied := len(answer.Workspaces) == 1 && answer.Workspaces[0].Apply; applied != c.apply {
			t.Errorf("after %s: applied %t", c.after, applied)
		}
	}
}

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
		text := `{"id":"a","desired":"Running","actual":"Running","createdAt":"2026-01-01T00:00:00Z",` +
			`"desiredAt":"2026-01-01T00:00:00Z","actualAt":"2026-01-01T00:00:00Z","limits":` + limits + `}`
		if _, err := s.Store.Put(t.Context(), store.Document{Key: "a", Value: []byte(text)}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Change(t.Context(), "a", set(v1.DesiredStopped)); fault.CodeOf(err) != fault.Failed ||
			!strings.Contains(err.Error(), "workspace a cannot be read") {
			t.Errorf("%s: %v", limits, err)
		}
	}
}
