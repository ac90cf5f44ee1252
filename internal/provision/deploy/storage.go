package deploy

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/lock"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/provision/manifest"
	"github.com/berthdev/berth/internal/userstring"
)

// Removing is how a workspace is removed.
type Removing struct {
	// Wait opens the watches before, to wait until its pods are gone.
	Wait bool
	// KeepStorage leaves its claims, marked as kept for its user string.
	KeepStorage bool
	// DryRun says what would be removed.
	DryRun apply.DryRun
}

// Command is the command that removes a workspace in the same way.
func (how Removing) Command(id, namespace string) string {
	if how.KeepStorage {
		return kube.Command("delete", id, namespace, "--keep-storage")
	}
	return kube.Command("delete", id, namespace)
}

// Keep marks the claims among the objects of a workspace as kept, so that they are
// found without it, and only a workspace of the same user string uses them again. It
// returns the claims, and the other objects. A claim that is being deleted cannot be
// kept: then nothing is marked.
func Keep(ctx context.Context, a apply.Applier, objects []*unstructured.Unstructured, user string) (claims,
	rest []*unstructured.Unstructured, err error,
) {
	claims, rest = Claims(objects), WithoutClaims(objects)
	for _, claim := range claims {
		if claim.GetDeletionTimestamp() != nil {
			return nil, rest, fault.New(fault.Conflict, "%s is being deleted and cannot be kept any more",
				kube.Object(kindClaim, claim.GetName())).
				WithHint("save what you need of it while the workspace runs; without --keep-storage the workspace " +
					"is deleted with it")
		}
	}
	annotations := map[string]string{}
	if user != "" {
		annotations[kube.AnnotationUserString] = userstring.ToAnnotation(user)
	}
	claims, err = a.Mark(ctx, claims, map[string]string{kube.LabelKept: "true"}, annotations)
	return claims, rest, err
}

// KeepAgain marks the claims that a run has found kept and has used, when it is undone.
func KeepAgain(ctx context.Context, a apply.Applier, changes apply.Changes) error {
	var claims []*unstructured.Unstructured
	for _, change := range changes {
		if inventory.IsKept(change.Before) && !inventory.IsKept(change.Object) {
			claims = append(claims, change.Object)
		}
	}
	_, err := a.Mark(ctx, claims, map[string]string{kube.LabelKept: "true"}, nil)
	return err
}

// Claims are the claims among the objects.
func Claims(objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	return slices.DeleteFunc(slices.Clone(objects),
		func(object *unstructured.Unstructured) bool { return !IsClaim(object) })
}

// WithoutClaims are the others.
func WithoutClaims(objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	return slices.DeleteFunc(slices.Clone(objects), IsClaim)
}

// IsClaim is true for a claim, which may hold data.
func IsClaim(object *unstructured.Unstructured) bool { return object.GetKind() == kindClaim }

// ReasonStorageOfAnother is the reason of the error of a claim that is kept for another
// user string.
const ReasonStorageOfAnother = "STORAGE_OF_ANOTHER"

// Usable returns an error for a claim that is kept for another user string with the
// same ID.
func Usable(asked userstring.UserString) func(*unstructured.Unstructured) error {
	return func(object *unstructured.Unstructured) error {
		if !inventory.IsKeptForAnother(object, asked) {
			return nil
		}
		owner := inventory.UserStringOf(object.GetAnnotations())
		return fault.New(fault.Conflict, "%s holds the data of %s, which has the same ID as %s: %s",
			kube.Object(kindClaim, object.GetName()), owner, asked, asked.ID()).
			WithReason(ReasonStorageOfAnother).
			WithHint("choose another blueprint or name for %s", asked)
	}
}

// Storage describes the claims among the objects of a workspace.
func Storage(id string, objects []*unstructured.Unstructured, kept bool) (all []v1.DeletedStorage) {
	for _, claim := range Claims(objects) {
		capacity, _, _ := unstructured.NestedString(claim.Object, "status", "capacity", "storage")
		request, _, _ := unstructured.NestedString(claim.Object, "spec", "resources", "requests", "storage")
		all = append(all, v1.DeletedStorage{
			Name: manifest.StorageNamed(id, claim.GetName()), Claim: claim.GetName(),
			Capacity: cmp.Or(capacity, request),
			Kept:     kept,
		})
	}
	return all
}

// noteKept says which storages a workspace has found that were kept for it.
func noteKept(d Deployment, there apply.Changes, steps *Steps) {
	var names []string
	for _, change := range there {
		if inventory.IsKept(change.Before) {
			names = append(names, manifest.StorageNamed(d.Spec.User.ID(), change.Object.GetName()))
		}
	}
	if len(names) > 0 {
		steps.Note("storage that was kept is used again: %s", strings.Join(names, ", "))
	}
}

// Renewing is NeedsRecreation for an applier.
func Renewing(r inventory.Reader) func(ctx context.Context, have, wanted *unstructured.Unstructured) bool {
	return func(ctx context.Context, have, wanted *unstructured.Unstructured) bool {
		return NeedsRecreation(ctx, r, have, wanted)
	}
}

// NeedsRecreation says whether what exists is to be made again: a claim as its blueprint says now, whose spec cannot be
// changed, but nothing is in one that was never bound; and a Service that is to have no address any more, which cannot
// be changed either, and nothing is in. A class that the blueprint does not name is the one that the cluster gives a
// new claim.
func NeedsRecreation(ctx context.Context, r inventory.Reader, have, wanted *unstructured.Unstructured) bool {
	if have.GetKind() == "Service" {
		return isHeadless(wanted) != isHeadless(have)
	}
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

// isHeadless is true for a Service that has no address of its own. Those of workspaces had one once.
func isHeadless(service *unstructured.Unstructured) bool {
	address, _, _ := unstructured.NestedString(service.Object, "spec", "clusterIP")
	return address == corev1.ClusterIPNone
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

// Applier applies the objects of an owner under a lock, which a dry run does not
// have: it overwrites what others have changed in them.
func Applier(r inventory.Reader, owner apply.Owner, held *lock.Lock, dry apply.DryRun) apply.Applier {
	a := apply.Applier{
		Client: r.Client.Dynamic, Discovery: r.Client.Discovery(), Namespace: r.Client.Namespace,
		Owner: owner, Force: true, DryRun: dry,
	}
	if held != nil {
		a.Fence = held
	}
	return a
}

// WarnOfClaims says which claims were kept, and warns of those that existed and are not
// what the blueprint asks for now: the spec of a claim cannot be changed later.
func WarnOfClaims(d Deployment, there apply.Changes, steps *Steps) {
	noteKept(d, there, steps)
	for _, claim := range append(apply.Unwrap(d.Shared), d.Objects...) {
		have, known := there.Of(claim, d.Spec.Namespace)
		if claim.GetKind() != kindClaim || !known {
			continue
		}
		storage := manifest.StorageOf(d.Chart.Values, claim.GetName())
		if have.InPlaceOf != nil {
			steps.Note("storage %s is made again as its blueprint says: it never had a volume", storage)
			continue
		}
		changes := manifest.ClaimChanges(claim, have.Object)
		if len(changes) == 0 {
			continue
		}
		text := fmt.Sprintf("storage %s stays as it is: %s", storage, strings.Join(changes, "; "))
		if neverBound(have.Object) {
			text += "; it never had a volume: with the right to delete it, run `" +
				fault.Command("kubectl", "delete", "pvc", claim.GetName(), "--namespace", d.Spec.Namespace) + "`"
		}
		steps.Warn("ClaimSpecChanged", kube.Object("persistentvolumeclaim", claim.GetName()), text)
	}
}
