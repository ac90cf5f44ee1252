package inventory

import (
	"cmp"
	"context"
	"encoding/base64"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/diagnose"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/workload"
	"github.com/berthdev/berth/internal/userstring"
	"github.com/berthdev/berth/internal/watch"
)

// LookupInjected reads a workload and, if the workspace is in it, how that
// stands: of the newest revision, with its events.
func (r Reader) LookupInjected(ctx context.Context, id string, ref userstring.Workload) (Found, error) {
	w, err := workload.Read(ctx, r.Client, id, ref)
	if err != nil || !w.Injected() {
		return Found{Workload: w}, err
	}
	subject := workload.Subject(r.Client.Namespace, ref)
	dump, err := diagnose.Gather(ctx, r.Client, subject)
	if err != nil {
		return Found{}, err
	}
	state := watch.NewState(subject)
	for _, r := range dump.Records {
		state = state.Apply(r.Type, r.Object)
	}
	f := Found{Workload: w, Pods: workload.WithWorkspace(state.Pods(), id)}
	f.Reading, _ = watch.Analyze(state, r.Policy, r.Now())
	return f, nil
}

// lookupAs looks a candidate up as what it is.
func (r Reader) lookupAs(ctx context.Context, c candidate) (Found, error) {
	if !c.workload.IsZero() {
		return r.lookupLeft(ctx, c.id, c.workload)
	}
	f, err := r.see(ctx, c.id)
	if err != nil && fault.CodeOf(err) != fault.NotFound || !c.literal || f.Pod != nil || f.Record != nil {
		return f, err
	}
	ref, whereErr := r.whereInjected(ctx, c.id)
	if whereErr != nil || ref.IsZero() {
		return f, cmp.Or(whereErr, err)
	}
	return r.lookupLeft(ctx, c.id, ref)
}

// lookupLeft is LookupInjected, and counts what a killed run may have left.
func (r Reader) lookupLeft(ctx context.Context, id string, ref userstring.Workload) (Found, error) {
	f, err := r.LookupInjected(ctx, id, ref)
	if err != nil || f.Workload.Injected() {
		return f, err
	}
	objects, err := workload.Objects(ctx, r.Client, id)
	if fault.CodeOf(err) == fault.PermissionDenied {
		return Found{}, fault.New(fault.NotFound, "workspace %s is not in %s, and whether anything of it is left cannot be seen: %w", id, ref, err).
			WithHint("`berth help rbac` has the Role that shows it")
	}
	f.Remains = len(objects)
	return f, err
}

// whereInjected finds the workload of a workspace by the pods that carry its
// ID, or by its ConfigMaps where there is no pod; none if there is neither.
func (r Reader) whereInjected(ctx context.Context, id string) (userstring.Workload, error) {
	core, ns, opts := r.Client.CoreV1(), r.Client.Namespace, metav1.ListOptions{LabelSelector: workload.Selector(id).String(), Limit: 1}
	pods, err := core.Pods(ns).List(ctx, opts)
	if err != nil {
		return userstring.Workload{}, kube.Fault(err, kube.Call{Verb: "list", Resource: "pods", Namespace: ns})
	}
	if len(pods.Items) > 0 {
		return workloadOf(&pods.Items[0]), nil
	}
	maps, err := core.ConfigMaps(ns).List(ctx, opts)
	if apierrors.IsForbidden(err) {
		return userstring.Workload{}, nil // what a killed run left is for who may delete it
	}
	if err != nil {
		return userstring.Workload{}, kube.Fault(err, kube.Call{Verb: "list", Resource: "configmaps", Namespace: ns})
	}
	if len(maps.Items) > 0 {
		return workloadOf(&maps.Items[0]), nil
	}
	return userstring.Workload{}, nil
}

// workloadOf is the workload that an object of an injected workspace belongs to.
// The user string has its whole name; a label may have had to cut it.
func workloadOf(o metav1.Object) userstring.Workload {
	if text, err := base64.StdEncoding.DecodeString(o.GetAnnotations()[kube.AnnotationUserString]); err == nil {
		if u, err := userstring.Parse(string(text)); err == nil && !u.Workload.IsZero() {
			return u.Workload
		}
	}
	return userstring.Workload{
		Kind: strings.ToLower(o.GetLabels()[kube.LabelWorkloadKind]), Name: o.GetLabels()[kube.LabelWorkloadName],
	}
}
