//go:build e2e

package e2e

import (
	"testing"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
)

// A blueprint's limits are recorded when a workspace is provisioned, also in a workload, and
// status says what limits will do. One workspace more than the configuration allows is not
// created; those that there are can be stopped, started and replaced.
func TestLimits(t *testing.T) {
	w := newWorld(t)
	berth := func(status int, args ...string) result {
		t.Helper()
		r := w.configured("limits: {workspacesPerUser: 2, maxStoppedHours: 48}\n", args...)
		r.mustBe(w, status)
		return r
	}
	tg := w.workload("deployment", 1, nil)
	template := tg.template()
	own, injected := "alice~limited", tg.user("limited")
	due := func(user string, desired v1.DesiredState, limit string, from v1.LimitSource, after time.Duration) {
		t.Helper()
		s := decode[v1.Workspace](w, berth(0, "status", user, "-o", "json")).State
		if s == nil || s.Next == nil || s.Next.Desired != desired || s.Next.Limit != limit || s.Next.From != from ||
			s.Next.At.Sub(s.DesiredAt) != after {
			t.Errorf("%s: %+v", user, s)
		}
	}
	for _, user := range []string{own, injected} {
		berth(0, "provision", user)
		due(user, v1.DesiredStopped, "maxActiveHours", v1.LimitOfBlueprint, 150*time.Minute)
	}
	w.contains(berth(0, "status", own).stdout, "stops in ", "(maxActiveHours of the blueprint)")
	w.contains(berth(0, "status", "-o", "wide").stdout, "LIMIT", "stops in ")

	berth(0, "stop", own, injected)
	const refused = "alice has 2 workspaces in namespace "
	for _, args := range [][]string{
		{"provision", "alice~plain"},
		{"provision", "alice~plain", "--dry-run=server"},
		{"provision", tg.user("plain")},
	} {
		w.contains(berth(3, args...).stderr, refused, "at most 2 are allowed (limits.workspacesPerUser)",
			"berth status --owner alice")
	}
	if r := w.berth("status", "alice~plain"); r.status != 7 {
		t.Errorf("something of it was created: %s", r.stdout)
	}
	for _, user := range []string{own, injected} {
		due(user, v1.DesiredTerminated, "maxStoppedHours", v1.LimitOfConfiguration, 48*time.Hour)
		berth(0, "provision", user)
		due(user, v1.DesiredStopped, "maxActiveHours", v1.LimitOfBlueprint, 150*time.Minute)
	}
	berth(0, "delete", own)
	berth(0, "provision", "alice~plain", "--no-wait")
	berth(0, "delete", injected, "alice~plain")
	tg.clean(template)
}
