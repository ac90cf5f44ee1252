package evidence

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// When an event happened last is said by its series, then by its own times, and at least by when
// it was made.
func TestTimesOfEvents(t *testing.T) {
	at := func(second int64) metav1.Time { return metav1.NewTime(time.Unix(second, 0)) }
	micro := func(second int64) metav1.MicroTime { return metav1.NewMicroTime(time.Unix(second, 0)) }
	e := corev1.Event{
		ObjectMeta: metav1.ObjectMeta{CreationTimestamp: at(1)}, FirstTimestamp: at(2), EventTime: micro(3),
		LastTimestamp: at(4),
		Series:        &corev1.EventSeries{Count: 7, LastObservedTime: micro(5)},
	}
	for _, take := range []struct {
		last, first int64
		away        func()
	}{
		{5, 2, func() { e.Series.LastObservedTime = metav1.MicroTime{} }},
		{4, 2, func() { e.LastTimestamp = metav1.Time{} }},
		{3, 2, func() { e.EventTime = metav1.MicroTime{} }},
		{2, 2, func() { e.FirstTimestamp = metav1.Time{} }},
		{1, 1, func() {}},
	} {
		if last, first := LastSeen(&e).Unix(), FirstSeen(&e).Unix(); last != take.last || first != take.first {
			t.Errorf("%+v: last at %d, first at %d; want %d and %d", e, last, first, take.last, take.first)
		}
		take.away()
	}
}

// A probe that came when its container did not run is said in words; another error of it is
// the container's own.
func TestTextOfProbes(t *testing.T) {
	for message, want := range map[string]string{
		"Readiness probe errored and resulted in unknown state: rpc error: code = NotFound desc = failed to exec in " +
			"container: failed to load task: no running task found: task 24e8 not found: " +
			"not found": "Readiness probe could not run: the container did not run at that moment",
		`Liveness probe errored and resulted in unknown state: rpc error: code = NotFound desc = failed to exec in ` +
			`container: failed to create exec "0a": container not created: ` +
			`not found`: "Liveness probe could not run: the container did not run at that moment",
		"Readiness probe errored: rpc error: code = Unknown desc = no such file": "Readiness probe errored: " +
			"rpc error: code = Unknown desc = no such file",
		"(combined from similar events): Readiness probe failed: ": "Readiness probe failed:",
	} {
		if got := Text(&corev1.Event{Message: message}); got != want {
			t.Errorf("%q: %q, want %q", message, got, want)
		}
	}
}
