package watch

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Events are the events about the subject and what belongs to it: the
// pod and its claims, or the workload and its pods; in the order they came.
func (s State) Events() []*corev1.Event {
	var uids []types.UID
	if pod, _ := s.Pod(); s.subject.isPod() && pod != nil {
		uids = append(uids, pod.UID)
		for _, c := range claimsOf(s, pod) {
			uids = append(uids, c.pvc.UID)
		}
	} else if w, ok := s.workload(); ok {
		uids = append(uids, w.object.GetUID(), w.owner)
		for _, pod := range s.podsOf(w) {
			uids = append(uids, pod.UID)
		}
	}
	return slices.DeleteFunc(all[*corev1.Event](s.objects), func(e *corev1.Event) bool {
		return !slices.Contains(uids, e.InvolvedObject.UID)
	})
}

// LatestEvent is when the newest event that is known happened; zero if none is.
func (s State) LatestEvent() time.Time {
	var latest time.Time
	for _, e := range all[*corev1.Event](s.objects) {
		if at := lastSeen(e); at.After(latest) {
			latest = at
		}
	}
	return latest
}

// Pods are all pods that are known, of whatever revision.
func (s State) Pods() []*corev1.Pod { return all[*corev1.Pod](s.objects) }

// Has says whether an object with this UID is there.
func (s State) Has(uid types.UID) bool {
	_, here := s.objects[uid]
	return here
}
