package evidence

import corev1 "k8s.io/api/core/v1"

// Claim is a PersistentVolumeClaim that a pod mounts, with the events about it.
// It is what it says now; its events may be of before.
type Claim struct {
	*corev1.PersistentVolumeClaim
	Events []*corev1.Event
}

// IsBound is true once the claim has a volume.
func (c Claim) IsBound() bool { return c.Status.Phase == corev1.ClaimBound }

// ClaimNames are the names of the claims that a pod mounts.
func ClaimNames(pod *corev1.Pod) (names []string) {
	for _, v := range pod.Spec.Volumes {
		switch {
		case v.PersistentVolumeClaim != nil:
			names = append(names, v.PersistentVolumeClaim.ClaimName)
		case v.Ephemeral != nil:
			names = append(names, pod.Name+"-"+v.Name)
		}
	}
	return names
}
