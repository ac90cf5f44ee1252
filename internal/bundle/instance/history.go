package instance

import (
	"context"

	helm "helm.sh/helm/v3/pkg/release"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/release"
)

// history is what is recorded of a release.
type history struct {
	deployed  *helm.Release // the newest revision that was applied as a whole; nil if there is none
	installed []*unstructured.Unstructured
	// attempted are the objects of the revisions after that one: none was completed, and each
	// may have left some.
	attempted []*unstructured.Unstructured
}

// history reads what is recorded of a release whose newest record has been read.
func (r Reconciler) history(ctx context.Context, name string, latest *helm.Release) (h history, err error) {
	if h.deployed, err = r.installed(ctx, name, latest); err != nil {
		return h, err
	}
	after := 0
	if h.deployed != nil {
		after = h.deployed.Version
		if h.installed, err = release.Objects(h.deployed.Manifest); err != nil {
			return h, err
		}
	}
	if latest == nil || latest.Version == after {
		return h, nil
	}
	attempts, err := r.records().After(ctx, name, after)
	if err != nil {
		return h, err
	}
	for _, attempt := range attempts {
		objects, err := release.Objects(attempt.Manifest)
		if err != nil {
			return h, err
		}
		h.attempted = append(h.attempted, objects...)
	}
	return h, nil
}

// watchAttempted lets the applier know what attempts have left. A kind that may not be
// watched is passed over: it may be why the attempt failed.
func watchAttempted(ctx context.Context, applier apply.Applier, attempted []*unstructured.Unstructured) error {
	for _, object := range attempted {
		err := applier.Watch(ctx, []*unstructured.Unstructured{object})
		if err != nil && fault.CodeOf(err) != fault.PermissionDenied {
			return err
		}
	}
	return nil
}
