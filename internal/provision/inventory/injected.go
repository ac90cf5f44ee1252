package inventory

import (
	"cmp"
	"context"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/berthdev/berth/internal/diagnose"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/workload"
	"github.com/berthdev/berth/internal/userstring"
)

// LookupInjected reads a workload and, if the workspace is in it, how far that has
// got: by the newest revision, with its events.
func (r Reader) LookupInjected(ctx context.Context, id string, ref userstring.Workload) (Found, error) {
	w, err := workload.Read(ctx, r.Client, id, ref)
	if err != nil || !w.Injected() {
		return Found{Workload: w}, err
	}
	return r.explainWorkload(ctx, w)
}

// LookupWhole is LookupInjected, and reads, beside the rest, the objects that belong to
// a workspace that is in the workload.
func (r Reader) LookupWhole(ctx context.Context, id string, ref userstring.Workload) (f Found, err error) {
	w, err := workload.Read(ctx, r.Client, id, ref)
	if err != nil || !w.Injected() {
		return Found{Workload: w}, err
	}
	var objects []*unstructured.Unstructured
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		f, err = r.explainWorkload(groupCtx, w)
		return err
	})
	group.Go(func() (err error) {
		objects, err = workload.Objects(groupCtx, r.Client, id)
		return err
	})
	if err := group.Wait(); err != nil {
		return Found{}, err
	}
	f.Objects = objects
	return f, nil
}

// explainWorkload reads what explains a workload that has the workspace.
func (r Reader) explainWorkload(ctx context.Context, w *workload.Workload) (Found, error) {
	typed, err := w.Typed()
	if err != nil {
		return Found{}, err
	}
	objects := Objects{Workload: typed}
	object, _ := typed.(runtime.Object)
	dump, err := diagnose.GatherAround(ctx, r.Client, workload.Subject(r.Client.Namespace, w.Ref), object)
	if err != nil {
		return Found{}, err
	}
	selector := workload.Selector(w.ID)
	for _, record := range dump.Records {
		switch pod, ok := record.Object.(*corev1.Pod); {
		case record.Object == object:
		case ok && selector.Matches(labels.Set(pod.Labels)):
			objects.Pods = append(objects.Pods, pod)
		case !ok:
			objects.Around = append(objects.Around, record.Object)
		}
	}
	return r.read(Found{Workload: w}, objects), nil
}

// lookupAs looks a candidate up as what it is.
func (r Reader) lookupAs(ctx context.Context, c candidate) (Found, error) {
	if !c.workload.IsZero() {
		return r.lookupRemains(ctx, c.id, c.workload)
	}
	f, err := r.lookupPod(ctx, c.id)
	if err != nil && fault.CodeOf(err) != fault.NotFound || !c.literal || f.Pod != nil || f.installed() {
		return f, err
	}
	ref, whereErr := r.whereInjected(ctx, c.id)
	if whereErr != nil || ref.IsZero() {
		return f, cmp.Or(whereErr, err)
	}
	return r.lookupRemains(ctx, c.id, ref)
}

// lookupPod is Lookup for a caller who only wants to see or enter the workspace: its
// pod is enough, for Helm's record is a Secret, which not everybody may read.
func (r Reader) lookupPod(ctx context.Context, id string) (f Found, err error) {
	f, err = r.Lookup(ctx, id)
	switch {
	case fault.CodeOf(err) != fault.PermissionDenied:
		return f, err
	case f.Pod != nil:
		return f, nil // what could not be read is only why it waits
	}
	refusal := err
	if f.Pod, f.Version, err = r.findPod(ctx, id); err != nil {
		return Found{}, err
	}
	if f.Pod == nil {
		return Found{}, fault.New(fault.NotFound,
			"workspace %s has no pod in namespace %s, and you may not see whether it is installed: %w", id,
			r.Client.Namespace,
			refusal).
			WithHint("`berth help rbac` lists the required Role")
	}
	return r.byStatus(f), nil
}

// lookupRemains is LookupInjected, and reads what there is of a workspace that is not
// in its workload: what a killed run may have left, and pods that are not replaced yet.
func (r Reader) lookupRemains(ctx context.Context, id string, ref userstring.Workload) (Found, error) {
	f, err := r.LookupInjected(ctx, id, ref)
	if err != nil || f.Workload.Injected() {
		return f, err
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		f.Leaving, err = workload.List(groupCtx, r.Client, id)
		return err
	})
	f.Objects, err = workload.Objects(ctx, r.Client, id)
	if podsErr := group.Wait(); podsErr != nil {
		return Found{}, podsErr
	}
	if fault.CodeOf(err) == fault.PermissionDenied && len(f.Leaving) > 0 {
		return f, nil // that it exists is known
	}
	if fault.CodeOf(err) == fault.PermissionDenied {
		return Found{}, fault.New(fault.NotFound,
			"workspace %s is not in %s, and you may not see whether anything of it is left: %w", id, ref, err).
			WithHint("`berth help rbac` lists the required Role")
	}
	return f, err
}

// whereInjected finds the workload of a workspace by the pods that carry its
// ID, or by its ConfigMaps where there is no pod; zero if there is neither.
func (r Reader) whereInjected(ctx context.Context, id string) (userstring.Workload, error) {
	pods, err := workload.List(ctx, r.Client, id)
	if err != nil {
		return userstring.Workload{}, err
	}
	if len(pods) > 0 {
		return WorkloadOf(pods[0]), nil
	}
	core, ns, opts := r.Client.CoreV1(), r.Client.Namespace,
		metav1.ListOptions{LabelSelector: workload.Selector(id).String(), Limit: 1}
	maps, err := core.ConfigMaps(ns).List(ctx, opts)
	if apierrors.IsForbidden(err) {
		return userstring.Workload{}, nil // only a deletion needs what a killed run left
	}
	if err != nil {
		return userstring.Workload{}, kube.Fault(err, kube.Call{Verb: "list", Resource: "configmaps", Namespace: ns})
	}
	if len(maps.Items) > 0 {
		return WorkloadOf(&maps.Items[0]), nil
	}
	return userstring.Workload{}, nil
}
