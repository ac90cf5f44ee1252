package watch

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
)

// ObjectEvents are events as they are listed: repeats folded into one with the
// newest message and the sum of the counts, the one that happened last at the
// end.
func ObjectEvents(events []*corev1.Event) []v1.ObjectEvent {
	at := map[WarningKind]int{}
	var folded []v1.ObjectEvent
	for _, e := range slices.SortedStableFunc(slices.Values(events), written) {
		one := ObjectEvent(e)
		one.FirstAt, one.At = firstSeen(e).UTC(), lastSeen(e).UTC()
		same := WarningKind{one.Object, one.Type + " " + one.Reason, messageKind(one.Message)}
		i, known := at[same]
		if !known {
			at[same] = len(folded)
			folded = append(folded, one)
			continue
		}
		folded[i] = merged(folded[i], one)
	}
	slices.SortStableFunc(folded, func(a, b v1.ObjectEvent) int { return clock(a).Compare(clock(b)) })
	return folded
}

// clock is when an event was seen last, in whole seconds: most components give
// no more than that, and the scheduler's microseconds would put it after what it
// caused.
func clock(e v1.ObjectEvent) time.Time { return e.At.Truncate(time.Second) }

// written orders events as the API server has stored them, as far as their
// versions tell.
func written(a, b *corev1.Event) int {
	left, leftErr := strconv.ParseUint(a.ResourceVersion, 10, 64)
	right, rightErr := strconv.ParseUint(b.ResourceVersion, 10, 64)
	if leftErr != nil || rightErr != nil {
		return 0
	}
	return cmp.Compare(left, right)
}

// merged makes one event of two that are the same but for numbers.
func merged(a, b v1.ObjectEvent) v1.ObjectEvent {
	if b.At.Before(a.At) {
		a, b = b, a
	}
	b.Count += a.Count
	if a.FirstAt.Before(b.FirstAt) {
		b.FirstAt = a.FirstAt
	}
	b.Message = strings.TrimPrefix(b.Message, combined)
	return b
}
