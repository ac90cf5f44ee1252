package provision

import (
	"cmp"
	"context"
	"encoding/base64"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/diagnose"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/injection"
	"github.com/berthdev/berth/internal/userstring"
	"github.com/berthdev/berth/internal/watch"
)

// survey looks up what stands under the run's name: a pod and a record, or a
// workload and what is in it.
func (r *run) survey(ctx context.Context) (found, error) {
	if r.user.Workload.IsZero() {
		return r.lookup(ctx, r.id)
	}
	f, err := r.lookupInjected(ctx, r.id, r.user.Workload)
	if err != nil {
		return found{}, err
	}
	w := f.workload
	switch {
	case w.object == nil:
		return found{}, fault.New(fault.NotFound, "there is no %s in namespace %s", w.ref, r.namespace).
			WithHint("see what there is: kubectl get %ss --namespace %s", w.ref.Kind, r.namespace)
	case w.record != nil && !w.injected():
		return found{}, injection.Taken(w.object, w.record)
	}
	w.stale = r.parts != nil && !injection.Current(w.record, *r.parts)
	return f, nil
}

// lookupInjected reads a workload and, if the workspace is in it, how that
// stands: of the newest revision, with its events.
func (p *Provisioner) lookupInjected(ctx context.Context, id string, ref userstring.Workload) (found, error) {
	w, err := p.readWorkload(ctx, id, ref)
	if err != nil || !w.injected() {
		return found{workload: w}, err
	}
	subject := p.subject(ref)
	dump, err := diagnose.Gather(ctx, p.Client, subject)
	if err != nil {
		return found{}, err
	}
	state := watch.NewState(subject)
	for _, r := range dump.Records {
		state = state.Apply(r.Type, r.Object)
	}
	f := found{workload: w}
	f.reading, _ = watch.Analyze(state, p.Policy, p.Now())
	return f, nil
}

// decideInjected is decide for a workspace in a workload.
func (f found) decideInjected() plan {
	if !f.workload.injected() {
		return install
	}
	switch f.reading.Verdict() {
	case v1.VerdictRunning:
		return refuse
	case v1.VerdictFailed, v1.VerdictStopped:
		return replace
	}
	if f.workload.stale {
		return replace
	}
	return resume
}

// lookupAs looks a candidate up as what it is.
func (p *Provisioner) lookupAs(ctx context.Context, c candidate) (found, error) {
	if !c.workload.IsZero() {
		return p.lookupLeft(ctx, c.id, c.workload)
	}
	f, err := p.see(ctx, c.id)
	if err != nil && !isNotFound(err) || !c.literal || f.pod != nil || f.record != nil {
		return f, err
	}
	ref, whereErr := p.whereInjected(ctx, c.id)
	if whereErr != nil || ref.IsZero() {
		return f, cmp.Or(whereErr, err)
	}
	return p.lookupLeft(ctx, c.id, ref)
}

// lookupLeft is lookupInjected, and counts what a killed run may have left.
func (p *Provisioner) lookupLeft(ctx context.Context, id string, ref userstring.Workload) (found, error) {
	f, err := p.lookupInjected(ctx, id, ref)
	if err != nil || f.workload.injected() {
		return f, err
	}
	objects, err := p.objectsInjected(ctx, id)
	if fault.CodeOf(err) == fault.PermissionDenied {
		return found{}, fault.New(fault.NotFound, "workspace %s is not in %s, and whether anything of it is left cannot be seen: %w", id, ref, err).
			WithHint("`berth help rbac` has the Role that shows it")
	}
	f.workload.objects = len(objects)
	return f, err
}

// whereInjected finds the workload of a workspace by the pods that carry its
// ID, or by its ConfigMaps where there is no pod; none if there is neither.
func (p *Provisioner) whereInjected(ctx context.Context, id string) (userstring.Workload, error) {
	core, ns, opts := p.Client.CoreV1(), p.Client.Namespace, metav1.ListOptions{LabelSelector: ours(id).String(), Limit: 1}
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

// podsInjected are the pods that have the workspace, those that are going left
// out; the ones that are ready first, the newest of them first.
func (p *Provisioner) podsInjected(ctx context.Context, id string) ([]*corev1.Pod, error) {
	list, err := p.Client.CoreV1().Pods(p.Client.Namespace).List(ctx, metav1.ListOptions{LabelSelector: ours(id).String()})
	if err != nil {
		return nil, kube.Fault(err, kube.Call{Verb: "list", Resource: "pods", Namespace: p.Client.Namespace})
	}
	return preferred(list.Items), nil
}
