package provision

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/workload"
	"github.com/berthdev/berth/internal/rbac"
	"github.com/berthdev/berth/internal/watch"
)

// review asks what the caller may do, beside the other reads.
func (r *run) review(ctx context.Context) (string, error) {
	var err error
	r.may, err = rbac.Ask(ctx, r.Client, r.namespace)
	return "", err
}

// permitted says what this run may not do of what it may have to, all of it
// together and before anything is written. A read that was refused is among it
// if the table is right; if not, it is told for itself. Doing is what the run is
// at: taking a workspace out of a workload goes by the row of putting it in.
func (r *run) permitted(doing, command string, objects []*unstructured.Unstructured) error {
	made := append(resourcesOf(objects), r.workloadResources()...)
	row := rbac.Named(command)
	if err := row.Denied(doing+" "+r.id, r.namespace, r.may.Missing(row.Needs(made...))); err != nil {
		return err
	}
	return r.unread
}

// command is the row of the table that a provisioning goes by.
func (r *run) command() string {
	if r.user.Workload.IsZero() {
		return rbac.Provision
	}
	return rbac.Inject
}

// workloadResources are those of the workload that the run is about, if any.
func (r *run) workloadResources() []string {
	ref := r.user.Workload
	if r.found.Workload != nil {
		ref = r.found.Workload.Ref
	}
	if ref.IsZero() {
		return nil
	}
	kind, resource := workload.Kind(ref)
	if kind == watch.KindDeployment {
		return []string{resource, "replicasets"}
	}
	return []string{resource}
}

// wanted are all objects that the run may make.
func (r *run) wanted() []*unstructured.Unstructured {
	if r.parts != nil {
		return r.parts.Objects
	}
	spec := r.spec()
	return slices.Concat(r.rendered.Objects, apply.Unwrap(spec.Shared()), spec.Private())
}

// resourcesOf are those of objects, as rules name them.
func resourcesOf(objects []*unstructured.Unstructured) (names []string) {
	for _, object := range objects {
		if resource, known := kube.ResourceOf(object.GroupVersionKind()); known {
			names = append(names, resource.Resource)
		} else {
			names = append(names, strings.ToLower(object.GetKind()))
		}
	}
	return names
}

// setAside keeps the refusal of a read for later: it is told together with
// whatever else is missing.
func (r *run) setAside(err error) error {
	if fault.CodeOf(err) != fault.PermissionDenied {
		return err
	}
	r.unread = err
	return nil
}

// mayEject is the check before a workspace is taken out of its workload.
func (r *run) mayEject(ctx context.Context) error {
	if _, err := r.review(ctx); err != nil {
		return err
	}
	objects, err := workload.Objects(ctx, r.Client, r.id)
	if err != nil && fault.CodeOf(err) != fault.PermissionDenied {
		return err
	}
	return r.permitted("deleting", rbac.Inject, objects)
}

// mayRemove is the check before a deletion: what the record names, as it was
// found, is what will be removed.
func (r *run) mayRemove(ctx context.Context) error {
	objects, err := r.objects()
	if err != nil {
		return err
	}
	if _, err := r.review(ctx); err != nil {
		return err
	}
	return r.permitted("deleting", rbac.Delete, objects)
}
