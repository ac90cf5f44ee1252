package deploy

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/provision/manifest"
)

// Renewing is NeedsRecreation for an applier.
func Renewing(r inventory.Reader) func(ctx context.Context, have, wanted *unstructured.Unstructured) bool {
	return func(ctx context.Context, have, wanted *unstructured.Unstructured) bool {
		return NeedsRecreation(ctx, r, have, wanted)
	}
}

// NeedsRecreation says whether a claim that exists is to be made again as its blueprint says now: the
// spec of a claim cannot be changed, but nothing is in one that was never bound. A class that
// the blueprint does not name is the one that the cluster gives a new claim.
func NeedsRecreation(ctx context.Context, r inventory.Reader, have, wanted *unstructured.Unstructured) bool {
	if !IsClaim(have) || !neverBound(have) || have.GetDeletionTimestamp() != nil {
		return false
	}
	if len(manifest.ClaimChanges(wanted, have)) > 0 {
		return true
	}
	if _, named := classOf(wanted); named {
		return false
	}
	now, _ := classOf(have)
	given, known := givenClass(ctx, r, wanted)
	return known && given != now
}

// neverBound is true for a claim that no volume was ever bound to.
func neverBound(claim *unstructured.Unstructured) bool {
	phase, _, _ := unstructured.NestedString(claim.Object, "status", "phase")
	volume, _, _ := unstructured.NestedString(claim.Object, "spec", "volumeName")
	_, bound := claim.GetAnnotations()["pv.kubernetes.io/bind-completed"]
	return phase == string(corev1.ClaimPending) && volume == "" && !bound
}

// classOf is the storage class that a claim names; it may name none on purpose.
func classOf(claim *unstructured.Unstructured) (string, bool) {
	class, named, _ := unstructured.NestedString(claim.Object, "spec", "storageClassName")
	return class, named
}

// givenClass is the class that the cluster gives a claim which names none. The API server is
// asked by a dry run of another name.
func givenClass(ctx context.Context, r inventory.Reader, wanted *unstructured.Unstructured) (class string, known bool) {
	asked := wanted.DeepCopy()
	asked.SetName("")
	asked.SetGenerateName(wanted.GetName() + "-")
	claims := r.Client.Dynamic.Resource(corev1.SchemeGroupVersion.WithResource("persistentvolumeclaims")).
		Namespace(r.Client.Namespace)
	made, err := claims.Create(ctx, asked,
		metav1.CreateOptions{FieldManager: kube.FieldManager, DryRun: []string{metav1.DryRunAll}})
	if err != nil {
		return "", false
	}
	class, _ = classOf(made)
	return class, true
}
