package apply

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/berthdev/berth/internal/kube"
)

// The waves, in the order of applying. Webhooks come last: one that is there
// before the pods that answer it may refuse these very pods.
const (
	waveFoundations = iota
	waveObjects
	waveWorkloads
	waveWebhooks
	waveCount
)

func waveOf(kind schema.GroupVersionKind) int {
	switch kind.GroupKind().String() {
	case kindDefinition, kindNamespace:
		return waveFoundations
	case "MutatingWebhookConfiguration.admissionregistration.k8s.io", "ValidatingWebhookConfiguration.admissionregistration.k8s.io":
		return waveWebhooks
	}
	if kube.IsWorkload(kind) {
		return waveWorkloads
	}
	return waveObjects
}

// waves are the items in the order in which they are applied. Of each wave those
// that have a parent follow the others.
func (r *run) waves() (waves [][]*item) {
	for wave := range waveCount {
		for _, child := range []bool{false, true} {
			var some []*item
			for _, it := range r.items {
				if waveOf(it.Object.GroupVersionKind()) == wave && (it.Parent != nil) == child {
					some = append(some, it)
				}
			}
			if some != nil {
				waves = append(waves, some)
			}
		}
	}
	return waves
}

const (
	kindDefinition = "CustomResourceDefinition.apiextensions.k8s.io"
	kindNamespace  = "Namespace"
	kindClaim      = "PersistentVolumeClaim"
	kindPod        = "Pod"
)

func isKind(object *unstructured.Unstructured, kinds ...string) bool {
	return slices.Contains(kinds, object.GroupVersionKind().GroupKind().String())
}
