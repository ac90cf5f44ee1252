package inventory

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/watch/evidence"
)

// Claims are the claims that the pods mount, by their names alone.
func (f Found) Claims() (claims []*unstructured.Unstructured) {
	var names []string
	for _, pod := range f.objects.Pods {
		names = append(names, evidence.ClaimNames(pod)...)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		claims = append(claims, kube.Named("PersistentVolumeClaim", name))
	}
	return claims
}
