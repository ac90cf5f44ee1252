package watch

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
)

// ObjectEvents are events as they are listed: repeats folded into one with the
// newest message and the sum of the counts, the one that happened last at the
// end.
func ObjectEvents(events []*corev1.Event) []v1.ObjectEvent {
	at := map[warningKind]int{}
	var folded []v1.ObjectEvent
	for _, e := range events {
		one := ObjectEvent(e)
		one.FirstAt, one.At = firstSeen(e).UTC(), lastSeen(e).UTC()
		same := warningKind{one.Object, one.Type + " " + one.Reason, messageKind(one.Message)}
		i, known := at[same]
		if !known {
			at[same] = len(folded)
			folded = append(folded, one)
			continue
		}
		folded[i] = merged(folded[i], one)
	}
	slices.SortStableFunc(folded, func(a, b v1.ObjectEvent) int { return a.At.Compare(b.At) })
	return folded
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
