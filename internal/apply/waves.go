package apply

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// The waves, in the order of applying. Webhooks, and what else the API server asks about requests, come after the
// workloads: one that is there before the pods that answer it may refuse these very pods. Custom resources come last,
// as a webhook beside their definition is to complete and to check them.
const (
	waveFoundations = iota
	waveObjects
	waveWorkloads
	waveWebhooks
	waveCustomResources // whose definitions are in the set
	waveUnguarded       // of removal alone: webhooks, which may have nobody to answer them
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

// removalWaveOf is the wave in which an object is removed, the last one first: webhooks,
// then custom resources, before the workloads, which may be their controllers.
func removalWaveOf(kind schema.GroupVersionKind) int {
	switch wave := waveOf(kind); {
	case wave == waveWebhooks:
		return waveUnguarded
	case wave == waveObjects && !scheme.Scheme.IsGroupRegistered(kind.Group):
		return waveCustomResources
	default:
		return wave
	}
}

// Stages divides what is to be removed into what goes first, then and last; each has to be
// gone before the next is removed. First are custom resources and definitions, for as long
// as their controllers are there to remove their finalizers, without the webhooks that may
// be asked about that; last are namespaces, so that it is seen what else they hold.
func Stages(objects []*unstructured.Unstructured) [][]*unstructured.Unstructured {
	stages := make([][]*unstructured.Unstructured, 3)
	for _, object := range objects {
		stage := 1
		switch wave := removalWaveOf(object.GroupVersionKind()); {
		case isKind(object, kindNamespace):
			stage = 2
		case wave == waveUnguarded, wave == waveCustomResources, isKind(object, kindDefinition):
			stage = 0
		}
		stages[stage] = append(stages[stage], object)
	}
	return stages
}

// Defines is true if a definition among the objects is that of a kind.
func Defines(objects []*unstructured.Unstructured, kind schema.GroupVersionKind) bool {
	_, is := defined(objects)[kind]
	return is
}

// waves are the items in the order in which they are applied. Of each wave those that have a parent follow the others.
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
				return fault.New(fault.Internal, "%s would be created before its parent %s", it.describe(),
					kube.Object(it.Parent.GetKind(), it.Parent.GetName()))
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
	kindService    = "Service"
)

func isKind(object *unstructured.Unstructured, kinds ...string) bool {
	return slices.Contains(kinds, object.GroupVersionKind().GroupKind().String())
}

// IsClaim is true for a claim for storage, whose data goes with it.
func IsClaim(object *unstructured.Unstructured) bool { return isKind(object, kindClaim) }
