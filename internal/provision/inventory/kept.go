package inventory

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/userstring"
	"github.com/berthdev/berth/internal/watch/evidence"
)

// FindKept finds the storage that was kept of a workspace that is deleted. It returns
// NotFound if there is none.
func (r Reader) FindKept(ctx context.Context, arg Argument) (*Target, error) {
	r = r.In(arg.Namespace)
	all := arg.all()
	targets := make([]*Target, len(all))
	group, ctx := errgroup.WithContext(ctx)
	for i, c := range all {
		group.Go(func() (err error) {
			targets[i], err = r.keptAs(ctx, c)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	for _, target := range targets {
		if target != nil {
			return target, nil
		}
	}
	return nil, fault.New(fault.NotFound, "no storage of workspace %s is kept in namespace %s", arg.candidates[0].id,
		r.Client.Namespace)
}

// keptAs finds what was kept of a candidate; nil for nothing.
func (r Reader) keptAs(ctx context.Context, c candidate) (*Target, error) {
	kept, err := r.Kept(ctx, c.id)
	if err != nil {
		return nil, err
	}
	kept = slices.DeleteFunc(kept, func(claim *unstructured.Unstructured) bool {
		ownedByAnother := c.owner != "" && !IsOwnedBy(claim, c.owner)
		return ownedByAnother || IsKeptForAnother(claim, c.asked)
	})
	if len(kept) == 0 {
		return nil, nil
	}
	return &Target{ID: c.id, Namespace: r.Client.Namespace, Found: Found{Kept: kept}}, nil
}

// Kept lists the claims that are kept under an ID, for whichever user string, and are
// not being deleted.
func (r Reader) Kept(ctx context.Context, id string) ([]*unstructured.Unstructured, error) {
	ns := r.Client.Namespace
	list, err := r.Client.CoreV1().PersistentVolumeClaims(ns).List(ctx, metav1.ListOptions{
		LabelSelector: kube.LabelKept + "=true," + kube.LabelCanonicalID + "=" + kube.LabelValue(id),
	})
	if err != nil {
		return nil, kube.Fault(err, kube.Call{Verb: "list", Resource: "persistentvolumeclaims", Namespace: ns})
	}
	left := slices.DeleteFunc(list.Items,
		func(claim corev1.PersistentVolumeClaim) bool { return claim.DeletionTimestamp != nil })
	return kube.UntypedList("PersistentVolumeClaim", left)
}

// IsKept is true for a claim that has outlived its workspace on request.
func IsKept(claim *unstructured.Unstructured) bool {
	return claim != nil && claim.GetLabels()[kube.LabelKept] == "true"
}

// IsKeptForAnother is true for a claim that was kept for another user string than this
// one, by their canonical keys. What does not say for whom is kept for the one who has the
// ID, and so is everything without a user string.
func IsKeptForAnother(claim *unstructured.Unstructured, asked userstring.UserString) bool {
	return IsKept(claim) && collision(asked, UserStringOf(claim.GetAnnotations())) != nil
}

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
