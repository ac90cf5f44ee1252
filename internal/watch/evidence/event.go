package evidence

import (
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/pattern"
)

// LastSeen is when an event happened last. The scheduler's events have no
// timestamps, only the newer API's eventTime and series.
func LastSeen(e *corev1.Event) time.Time {
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

// FirstSeen is when an event happened for the first time.
func FirstSeen(e *corev1.Event) time.Time {
	switch {
	case !e.FirstTimestamp.IsZero():
		return e.FirstTimestamp.Time
	case !e.EventTime.IsZero():
		return e.EventTime.Time
	case !e.CreationTimestamp.IsZero():
		return e.CreationTimestamp.Time
	}
	return LastSeen(e)
}

// exactly is LastSeen as exactly as can be said. Timestamps have whole seconds;
// the name that the recorder gives to an event ends in its time in nanoseconds,
// which is believed as far as it agrees.
func exactly(e *corev1.Event) time.Time {
	seen := LastSeen(e)
	_, suffix, _ := strings.Cut(e.Name, e.InvolvedObject.Name+".")
	nanos, err := strconv.ParseInt(suffix, 16, 64)
	if exact := time.Unix(0, nanos); err == nil && exact.Truncate(time.Second).Equal(seen) {
		return exact
	}
	return seen
}

// Text is an event's message without what the recorder puts before it when there
// were many that are alike. What a container runtime says of a probe that came when the
// container did not run is an answer between programs: it is said in words.
func Text(e *corev1.Event) string {
	text := strings.TrimSpace(WithoutCombined(e.Message))
	if m := probedTooSoon.FindStringSubmatch(text); m != nil {
		return m[1] + " probe could not run: the container did not run at that moment"
	}
	return text
}

const probedTooSoon pattern.Expr = `^(\w+) probe errored.*rpc error: .*(?:no running task found` +
	`|container not created|container not running|is not running|not in running state|in a stopped state)`

// WithoutCombined is a message without what the recorder puts before it when it
// combines several.
func WithoutCombined(message string) string {
	return strings.TrimPrefix(message, "(combined from similar events): ")
}

// Count is how often an event happened.
func Count(e *corev1.Event) int {
	if e.Series != nil {
		return max(1, int(e.Series.Count))
	}
	return max(1, int(e.Count))
}

// ContainerOf is the container that an event is about, from its field path, such
// as spec.initContainers{migrate}; empty for the pod as a whole.
func ContainerOf(e *corev1.Event) string {
	_, name, ok := strings.Cut(e.InvolvedObject.FieldPath, "{")
	if !ok {
		return ""
	}
	return strings.TrimSuffix(name, "}")
}

// ObjectOf is what an event is about: kind/name[:container].
func ObjectOf(e *corev1.Event) string {
	ref := kube.Object(e.InvolvedObject.Kind, e.InvolvedObject.Name)
	if c := ContainerOf(e); c != "" {
		ref += ":" + c
	}
	return ref
}

// Latest is the latest of the events that have one of the reasons; nil if none has.
func Latest(events []*corev1.Event, reasons ...string) *corev1.Event {
	for _, event := range slices.Backward(events) {
		if slices.Contains(reasons, event.Reason) {
			return event
		}
	}
	return nil
}
