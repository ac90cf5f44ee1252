package watch

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/watch/evidence"
	"github.com/berthdev/berth/internal/watch/watchtest"
)

// An image is being pulled from its event on, until another event or the status says that it is not.
func TestPullingSince(t *testing.T) {
	event := func(reason string, at time.Duration) *corev1.Event {
		return watchtest.Event("web", "1", "app", reason, "said").At(watchtest.After(at)).Event
	}
	pulling := event("Pulling", 5*time.Second)
	for name, c := range map[string]struct {
		events []*corev1.Event
		status func(*corev1.ContainerStatus)
		want   bool
	}{
		"no event":                 {nil, watchtest.Waits("ContainerCreating", ""), false},
		"no status":                {[]*corev1.Event{pulling}, nil, true},
		"a container to be made":   {[]*corev1.Event{pulling}, watchtest.Waits("ContainerCreating", ""), true},
		"a pod to be initialized":  {[]*corev1.Event{pulling}, watchtest.Waits("PodInitializing", ""), true},
		"one that is restarted":    {[]*corev1.Event{pulling}, watchtest.Waits("CrashLoopBackOff", ""), true},
		"one that cannot be":       {[]*corev1.Event{pulling}, watchtest.Waits("ErrImagePull", ""), false},
		"it was pulled":            {[]*corev1.Event{pulling, event("Pulled", 6*time.Second)}, nil, false},
		"it runs":                  {[]*corev1.Event{pulling}, watchtest.Runs(time.Second), false},
		"it has ended since":       {[]*corev1.Event{pulling}, watchtest.Exits(1, "Error", 6*time.Second), false},
		"it has ended before that": {[]*corev1.Event{pulling}, watchtest.Exits(1, "Error", 5*time.Second), true},
	} {
		container := evidence.Container{Events: c.events}
		if c.status != nil {
			c.status(&container.Status)
		}
		since, open := pullingSince(container)
		if open != c.want || open && !since.Equal(watchtest.After(5*time.Second)) || !open && !since.IsZero() {
			t.Errorf("%s: %t, since %s", name, open, since)
		}
	}
}

// Without an event, images are being pulled once every init container is done: since the last was.
func TestImpliedPull(t *testing.T) {
	container := func(init bool, change func(*corev1.ContainerStatus)) evidence.Container {
		c := evidence.Container{Init: init}
		change(&c.Status)
		return c
	}
	waits, done := watchtest.Waits("PodInitializing", ""),
		func(at time.Duration) func(*corev1.ContainerStatus) { return watchtest.Exits(0, "Completed", at) }
	told := container(false, waits)
	told.Events = []*corev1.Event{{}}
	for name, c := range map[string]struct {
		containers []evidence.Container
		want       time.Duration // 0 for none
	}{
		"nothing to wait for": {[]evidence.Container{container(false, waits)}, 0},
		"all are done": {[]evidence.Container{
			container(true, done(3*time.Second)),
			container(true, done(2*time.Second)), container(false, waits),
		}, 3 * time.Second},
		"one is not": {[]evidence.Container{
			container(true, done(3*time.Second)),
			container(true, watchtest.Runs(0)), container(false, waits),
		}, 0},
		"one has failed": {[]evidence.Container{
			container(true, watchtest.Exits(1, "Error", time.Second)),
			container(false, waits),
		}, 0},
		"one is to be made": {[]evidence.Container{
			container(true, done(time.Second)),
			container(false, watchtest.Waits("ContainerCreating", "")),
		}, 0},
		"there is an event of it": {[]evidence.Container{container(true, done(time.Second)), told}, 0},
	} {
		since, open := impliedPull(c.containers)
		if open != (c.want > 0) || open && !since.Equal(watchtest.After(c.want)) {
			t.Errorf("%s: %t, since %s", name, open, since)
		}
	}
}

// The image that is told of is that which has been coming the longest.
func TestLongestPull(t *testing.T) {
	r := reading{pulls: []pull{
		{container: "a", since: watchtest.After(2 * time.Second)},
		{container: "b", since: watchtest.After(time.Second)},
		{container: "c", since: watchtest.After(time.Second)},
	}}
	if got := r.longestPull(); got.container != "b" {
		t.Errorf("%+v", got)
	}
}

// No more than 200 events are listed, the newest, and of one object and reason no more than a few
// messages.
func TestListedEvents(t *testing.T) {
	event := func(n int, reason, message string) *corev1.Event {
		e := watchtest.Event("web", "1", "app", reason, message).Version(n).
			At(watchtest.After(time.Duration(n) * time.Second)).Event
		e.Count = 1
		return e
	}
	for n, want := range map[int]int{200: 200, 201: 200} {
		var events []*corev1.Event
		for i := range n {
			events = append(events, event(i+1, fmt.Sprintf("Reason%c%c", 'a'+i%20, 'a'+i/20), "said"))
		}
		got := ObjectEvents(events)
		if len(got) != want || !got[len(got)-1].At.Equal(watchtest.After(time.Duration(n)*time.Second)) {
			t.Errorf("%d: %d are listed, the last at %s", n, len(got), got[len(got)-1].At)
		}
	}
	for n, want := range map[int]int{mostMessages: 1, mostMessages + 1: 2, mostMessages + 3: 4} {
		var events []*corev1.Event
		for i := range n {
			events = append(events, event(i+1, "FailedMount", fmt.Sprintf("it is %c", 'a'+i)))
		}
		got := ObjectEvents(append(events, event(n+1, "Other", "it is a")))
		if len(got) != mostMessages+1 || got[mostMessages-1].Count != want || got[mostMessages].Count != 1 {
			t.Errorf("%d messages: %+v", n, got)
		}
	}
}
