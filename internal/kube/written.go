package kube

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// WrittenAt is when an object itself was last written, to the second: not its status, nor its
// number of replicas by way of the scale subresource. Zero if that is not known.
func WrittenAt(o metav1.Object) time.Time {
	var at time.Time
	for _, entry := range o.GetManagedFields() {
		if entry.Time != nil && entry.Subresource == "" && entry.Time.After(at) {
			at = entry.Time.Time
		}
	}
	return at
}
