package watch

import (
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	apiwatch "k8s.io/apimachinery/pkg/watch"

	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/watchtest"
)

// Of several times at which to look again the earliest counts; no time is never.
func TestAskAt(t *testing.T) {
	none, soon, late := time.Time{}, watchtest.After(time.Second), watchtest.After(time.Minute)
	for name, c := range map[string]struct {
		asked []time.Time
		want  time.Time
	}{
		"never": {nil, none}, "no time": {[]time.Time{none}, none}, "one": {[]time.Time{late}, late},
		"the earlier":   {[]time.Time{late, soon}, soon},
		"not the later": {[]time.Time{soon, late}, soon}, "not none": {[]time.Time{soon, none}, soon},
		"after none": {[]time.Time{none, late}, late},
	} {
		var got clock
		for _, at := range c.asked {
			got.askAt(at)
		}
		if !got.next.Equal(c.want) {
			t.Errorf("%s: %s, want %s", name, got.next, c.want)
		}
	}
}

// What has to last is looked at again when it has, and not before that.
func TestRecent(t *testing.T) {
	policy := cause.Policy{CauseDelay: 3 * time.Second}
	for began, c := range map[time.Duration]struct {
		recent bool
		next   time.Duration // from the beginning; 0 for never
	}{
		0: {true, 3 * time.Second}, -2999 * time.Millisecond: {true, time.Millisecond}, -3 * time.Second: {false, 0},
		-time.Hour: {false, 0}, time.Second: {false, 0},
	} {
		r := clock{now: watchtest.Epoch}
		if got := r.recent(watchtest.After(began), policy); got != c.recent {
			t.Errorf("%s: %t", began, got)
		}
		if (c.next == 0) != r.next.IsZero() || c.next > 0 && r.next.Sub(r.now) != c.next {
			t.Errorf("%s: it is looked at again at %s", began, r.next)
		}
	}
}

// While somebody waits, what is stuck is said after a while, and given up later, if at all; both count from
// when the waiting began.
func TestStuckSince(t *testing.T) {
	policy := cause.Policy{StuckDelay: time.Minute, StuckAfter: 5 * time.Minute, WaitingSince: watchtest.Epoch}
	forever, alone := policy, policy
	forever.StuckAfter, alone.WaitingSince = 0, time.Time{}
	for _, c := range []struct {
		policy            cause.Policy
		since, now        time.Duration
		reported, givenUp bool
		next              time.Duration
	}{
		{policy, 0, 0, false, false, time.Minute},
		{policy, 0, time.Minute - 1, false, false, time.Minute},
		{policy, 0, time.Minute, true, false, 5 * time.Minute},
		{policy, 0, 5*time.Minute - 1, true, false, 5 * time.Minute},
		{policy, 0, 5 * time.Minute, true, true, 0},
		{policy, -time.Hour, 0, false, false, time.Minute},
		{policy, 2 * time.Minute, 2 * time.Minute, false, false, 3 * time.Minute},
		{forever, 0, time.Hour, true, false, 0},
		{forever, 0, 0, false, false, time.Minute},
		{alone, 0, time.Hour, false, false, 0},
	} {
		r := clock{now: watchtest.After(c.now)}
		reported, givenUp := r.stuck(watchtest.After(c.since), c.policy)
		if reported != c.reported || givenUp != c.givenUp || (c.next == 0) != r.next.IsZero() || c.next > 0 &&
			!r.next.Equal(watchtest.After(c.next)) {
			t.Errorf("since %s, at %s: reported: %t, given up: %t, next %s", c.since, c.now, reported, givenUp, r.next)
		}
	}
	r := clock{now: watchtest.After(time.Hour)}
	if reported, givenUp := r.stuck(time.Time{}, policy); reported || givenUp || !r.next.IsZero() {
		t.Error("what is not stuck is reported")
	}
}

// The newest time is the latest that anything has, and a clock that is behind it is put forward.
func TestNewestTime(t *testing.T) {
	at := func(second int) metav1.Time {
		return metav1.NewTime(watchtest.After(time.Duration(second) * time.Second))
	}
	meta := func(uid types.UID) metav1.ObjectMeta { return metav1.ObjectMeta{UID: uid, CreationTimestamp: at(1)} }
	written := meta("3")
	written.ManagedFields = []metav1.ManagedFieldsEntry{{Time: new(at(4))}, {Time: new(at(3))}, {}}
	conditions := &corev1.Pod{
		ObjectMeta: meta("6"),
		Status: corev1.PodStatus{Conditions: []corev1.PodCondition{
			{LastTransitionTime: at(7)},
			{LastTransitionTime: at(6)},
		}},
	}
	s := NewState(Subject{Kind: KindPod, Namespace: "dev", Name: "web"})
	if !s.Newest().IsZero() {
		t.Errorf("of nothing: %s", s.Newest())
	}
	s = s.Apply(apiwatch.Added, &corev1.Pod{ObjectMeta: meta("1")})
	for second, c := range map[int]State{
		1: s,
		4: s.Apply(apiwatch.Added, &corev1.Pod{ObjectMeta: written}),
		5: s.Apply(apiwatch.Added, &corev1.Event{ObjectMeta: meta("4"), LastTimestamp: at(5)}),
		6: s.Apply(apiwatch.Added, &coordinationv1.Lease{
			ObjectMeta: meta("5"),
			Spec:       coordinationv1.LeaseSpec{RenewTime: new(metav1.NewMicroTime(at(6).Time))},
		}),
		7: s.Apply(apiwatch.Added, conditions),
	} {
		if got := c.Newest(); !got.Equal(at(second).Time) {
			t.Errorf("%s, want %s", got, at(second))
		}
		policy := cause.Policy{CauseDelay: time.Second}
		if p, now := c.correct(policy, at(second).Time); p.CauseDelay != time.Second || !now.Equal(at(second).Time) {
			t.Errorf("a clock that is right is corrected: %s, %s", p.CauseDelay, now)
		}
		if p, now := c.correct(policy, at(0).Time); p.CauseDelay != 0 || !now.Equal(at(second).Time) {
			t.Errorf("a clock that is behind is not corrected: %s, %s", p.CauseDelay, now)
		}
	}
	if got := s.Apply(apiwatch.Added, &coordinationv1.Lease{ObjectMeta: meta("5")}).Newest(); !got.Equal(at(1).Time) {
		t.Errorf("of a Lease that was not renewed: %s", got)
	}
}
