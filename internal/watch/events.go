package watch

import (
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/berthdev/berth/api/v1"
)

// eventsAbout gives the events about one object, the latest last. They belong
// by UID: names are used again, and an event lives for an hour.
//
// The order is that in which they were written, not that of their times, which
// have whole seconds only. A repeated event is one object that is written again,
// so it stands where it was seen last.
func (s State) eventsAbout(uid types.UID) []*corev1.Event {
	var about []*corev1.Event
	if uid == "" {
		return nil
	}
	for _, e := range all[*corev1.Event](s.objects) {
		if e.InvolvedObject.UID == uid {
			about = append(about, e)
		}
	}
	return about
}

// lastSeen is when the event happened last. The scheduler's events have no
// timestamps, only the newer API's eventTime and series.
func lastSeen(e *corev1.Event) time.Time {
	switch {
	case e.Series != nil && !e.Series.LastObservedTime.IsZero():
		return e.Series.LastObservedTime.Time
	case !e.LastTimestamp.IsZero():
		return e.LastTimestamp.Time
	case !e.EventTime.IsZero():
		return e.EventTime.Time
	case !e.FirstTimestamp.IsZero():
		return e.FirstTimestamp.Time
	}
	return e.CreationTimestamp.Time
}

// firstSeen is when the event happened for the first time.
func firstSeen(e *corev1.Event) time.Time {
	switch {
	case !e.FirstTimestamp.IsZero():
		return e.FirstTimestamp.Time
	case !e.EventTime.IsZero():
		return e.EventTime.Time
	case !e.CreationTimestamp.IsZero():
		return e.CreationTimestamp.Time
	}
	return lastSeen(e)
}

// textOf is the event's message without what the recorder puts before it when
// there were many that are alike.
func textOf(e *corev1.Event) string {
	return strings.TrimSpace(strings.TrimPrefix(e.Message, combined))
}

const combined = "(combined from similar events): "

// begunAt is lastSeen as exactly as can be told. Timestamps have whole seconds;
// the name that the recorder gives to an event ends in its time in nanoseconds,
// which is believed as far as it agrees.
func begunAt(e *corev1.Event) time.Time {
	seen := lastSeen(e)
	_, suffix, _ := strings.Cut(e.Name, e.InvolvedObject.Name+".")
	nanos, err := strconv.ParseInt(suffix, 16, 64)
	if exact := time.Unix(0, nanos); err == nil && exact.Truncate(time.Second).Equal(seen) {
		return exact
	}
	return seen
}

// Count is how often an event happened.
func Count(e *corev1.Event) int {
	if e.Series != nil {
		return max(1, int(e.Series.Count))
	}
	return max(1, int(e.Count))
}

// containerOf is the container that an event is about, from its field path,
// such as spec.initContainers{migrate}; empty for the pod as a whole.
func containerOf(e *corev1.Event) string {
	_, name, ok := strings.Cut(e.InvolvedObject.FieldPath, "{")
	if !ok {
		return ""
	}
	return strings.TrimSuffix(name, "}")
}

// objectOf is what an event is about: kind/name[:container].
func objectOf(e *corev1.Event) string {
	ref := reference(e.InvolvedObject.Kind, e.InvolvedObject.Name)
	if c := containerOf(e); c != "" {
		ref += ":" + c
	}
	return ref
}

// ObjectEvent is the event as it is printed.
func ObjectEvent(e *corev1.Event) v1.ObjectEvent {
	return v1.ObjectEvent{
		Object:  objectOf(e),
		Type:    e.Type,
		Reason:  e.Reason,
		Message: strings.TrimSpace(e.Message),
		Count:   Count(e),
	}
}

// notBefore compares a time that has whole seconds with another.
func notBefore(t time.Time, start metav1.Time) bool {
	return !t.Before(start.Truncate(time.Second))
}
