package watch

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/watch/watchtest"
)

// Warnings are in the order of when they came last, however the cluster lists their events.
func TestOrderOfWarnings(t *testing.T) {
	var f folder
	for _, e := range []struct {
		reason string
		at     time.Duration
	}{
		{"FailedMount", 3 * time.Second},
		{"BackOff", time.Second},
		{"Unhealthy", 2 * time.Second},
		{"BackOff", 5 * time.Second},
	} {
		f.add(watchtest.Event("web", "1", "app", e.reason, "said").Warn().At(watchtest.After(e.at)).Event)
	}
	var got []string
	for _, w := range f.sorted() {
		got = append(got, fmt.Sprintf("%s %d", w.Reason, w.Count))
	}
	if want := []string{"Unhealthy 1", "FailedMount 1", "BackOff 2"}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Events that are the same but for numbers are listed as one: the newest message, how often
// in all, and from the first of all to the last.
func TestRepeatedEventsAreOne(t *testing.T) {
	seen := func(version, message string, count int32, first, last time.Duration) *corev1.Event {
		e := warning("app", "BackOff", message)
		e.ResourceVersion, e.Count = version, count
		e.FirstTimestamp, e.LastTimestamp = metav1.NewTime(watchtest.After(first)),
			metav1.NewTime(watchtest.After(last))
		return e
	}
	for name, test := range map[string]struct {
		events []*corev1.Event
		want   []string
	}{
		"in their order": {[]*corev1.Event{
			seen("1", "try 1 failed", 2, 0, time.Minute),
			seen("2", "try 2 failed", 3, 2*time.Minute, 3*time.Minute),
		}, []string{"5 try 2 failed 0s 3m0s"}},
		"the other way around": {[]*corev1.Event{
			seen("2", "try 1 failed", 2, 0, time.Minute),
			seen("1", "try 2 failed", 3, 2*time.Minute, 3*time.Minute),
		}, []string{"5 try 2 failed 0s 3m0s"}},
		"one within the other": {[]*corev1.Event{
			seen("1", "try 1 failed", 1, time.Minute, time.Minute),
			seen("2", "try 2 failed", 9, 0, 3*time.Minute),
		}, []string{"10 try 2 failed 0s 3m0s"}},
		"combined by the other": {[]*corev1.Event{
			seen("1", "failed", 1, 0, 0),
			seen("2", "(combined from similar events): failed", 4, time.Minute, time.Minute),
		}, []string{"5 failed 0s 1m0s"}},
		"different words": {[]*corev1.Event{
			seen("1", "failed", 1, time.Minute, time.Minute),
			seen("2", "denied", 1, 0, 0),
		}, []string{"1 denied 0s 0s", "1 failed 1m0s 1m0s"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, e := range ObjectEvents(test.events) {
				got = append(got, fmt.Sprintf("%d %s %s %s", e.Count, e.Message, e.FirstAt.Sub(watchtest.Epoch),
					e.At.Sub(watchtest.Epoch)))
			}
			if fmt.Sprint(got) != fmt.Sprint(test.want) {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}
