package lifecycle_test

import (
	"testing"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/lifecycle"
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
		"deleted, whatever the limit": {lifecycle.Limits{Active: 1, Stopped: 1, Age: 1}, v1.DesiredTerminated, 1e5, "", 0},
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
		changed, answer, err := lifecycle.Exchange(records, lifecycle.Report{}, limits, lifecycle.NextMark(records, now))
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
