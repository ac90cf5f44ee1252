package apply

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/kube"
)

// unchangeable uses a pod or a claim as it is, or makes a claim again.
func (r *run) unchangeable(ctx context.Context, it *item, current *unstructured.Unstructured) (done bool, err error) {
	if isKind(current, kindClaim) && r.Recreates != nil && r.Recreates(ctx, current, it.object) {
		return r.recreate(ctx, it, current)
	}
	return r.markClaim(ctx, it)
}

// recreate deletes a claim in the very version that was read, which nothing is in, so that it is
// created again. It is not done, but in a dry run: the next try waits until it is gone. Without
// the right to delete it, it is used as it is.
func (r *run) recreate(ctx context.Context, it *item, current *unstructured.Unstructured) (done bool, err error) {
	if r.DryRun != DryRunNone {
		it.change = &Change{Action: Created, Object: it.object, InPlaceOf: current}
		return true, nil
	}
	if err := r.confirm(ctx); err != nil {
		return true, err
	}
	options, version := r.deletion(current), current.GetResourceVersion()
	options.Preconditions.ResourceVersion = &version
	err = it.api.Delete(ctx, it.name, options)
	switch {
	case err == nil:
		it.inPlaceOf = current
		return false, nil
	case isStale(err):
		return false, nil
	case apierrors.IsForbidden(err):
		return r.markClaim(ctx, it)
	}
	return true, kube.Fault(err, it.call("delete"))
}
