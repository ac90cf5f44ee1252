package apply

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// The waves, in the order of applying. Webhooks, and what else the API server asks
// about requests, come last: one that is there before the pods that answer it may refuse
// these very pods.
const (
	waveFoundations = iota
	waveObjects
	waveWorkloads
	waveCustomResources // whose definitions are in the set
	waveWebhooks
	waveCount
)

func waveOf(kind schema.GroupVersionKind) int {
	switch kind.GroupKind().String() {
	case kindDefinition, kindNamespace:
		return waveFoundations
	case kindMutating, kindValidating, "ValidatingAdmissionPolicy.admissionregistration.k8s.io",
		"ValidatingAdmissionPolicyBinding.admissionregistration.k8s.io", "APIService.apiregistration.k8s.io":
		return waveWebhooks
	}
	if kube.IsWorkload(kind) {
		return waveWorkloads
	}
	return waveObjects
}

// waveOf is the wave in which an object of the set is applied.
func (r *run) waveOf(kind schema.GroupVersionKind) int {
	if _, is := r.defined[kind]; is {
		return waveCustomResources
	}
	return waveOf(kind)
}

// removalWaveOf is the wave in which an object is removed: custom resources before
// the workloads, which may be their controllers.
func removalWaveOf(kind schema.GroupVersionKind) int {
	if wave := waveOf(kind); wave != waveObjects || scheme.Scheme.IsGroupRegistered(kind.Group) {
		return wave
	}
	return waveCustomResources
}

// waves are the items in the order in which they are applied. Of each wave those
// that have a parent follow the others.
func (r *run) waves(waveOf func(schema.GroupVersionKind) int) (waves [][]*item) {
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

// checkParents refuses an object that would be made before its parent.
func checkParents(waves [][]*item) error {
	made := map[*unstructured.Unstructured]bool{nil: true}
	for _, wave := range waves {
		for _, it := range wave {
			if !made[it.Parent] {
				return fault.New(fault.Internal, "%s would be created before its parent %s", it.describe(), kube.Object(it.Parent.GetKind(), it.Parent.GetName()))
			}
		}
		for _, it := range wave {
			made[it.Object] = true
		}
	}
	return nil
}

const (
	kindDefinition = "CustomResourceDefinition.apiextensions.k8s.io"
	kindMutating   = "MutatingWebhookConfiguration.admissionregistration.k8s.io"
	kindValidating = "ValidatingWebhookConfiguration.admissionregistration.k8s.io"
	kindNamespace  = "Namespace"
	kindClaim      = "PersistentVolumeClaim"
	kindPod        = "Pod"
)

func isKind(object *unstructured.Unstructured, kinds ...string) bool {
	return slices.Contains(kinds, object.GroupVersionKind().GroupKind().String())
}
