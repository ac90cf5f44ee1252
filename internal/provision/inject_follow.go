package provision

import (
	"context"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/watch"
	"github.com/berthdev/berth/internal/watch/follow"
)

// openWorkload begins to watch the workload, its ReplicaSets, the pods that have
// the workspace, and the events about all of them.
func (r *run) openWorkload(ctx context.Context) error {
	w, ns, core := r.found.workload, r.namespace, r.Client.CoreV1()
	subject := r.subject(w.ref)
	pods := follow.SelectedPodSource(follow.Client(core.Pods(ns)), ns, ours(r.id))
	list, err := core.Pods(ns).List(ctx, metav1.ListOptions{LabelSelector: pods.Labels})
	if err != nil {
		return kube.Fault(err, kube.Call{Verb: "list", Resource: "pods", Namespace: ns})
	}
	// Without the list, that there is none could mean that none has been told of yet.
	pods.Version = list.ResourceVersion
	for i := range list.Items {
		pods.Listed = append(pods.Listed, &list.Items[i])
	}
	sources := []follow.Source{
		pods,
		follow.OffspringEventSource(follow.Client(core.Events(ns)), subject, r.claims()...),
	}
	if claims := r.claims(); len(claims) > 0 {
		sources = append(sources, follow.ClaimSource(follow.Client(core.PersistentVolumeClaims(ns)), ns, claims...))
	}
	if w.object != nil {
		more, err := r.controllers(w, subject)
		if err != nil {
			return err
		}
		sources = append(sources, more...)
	}
	r.follower, err = follow.Open(ctx, subject, sources...)
	return err
}

// controllers are the sources of the workload itself and of what it makes its
// pods with.
func (r *run) controllers(w *workload, subject watch.Subject) ([]follow.Source, error) {
	apps, ns := r.Client.AppsV1(), r.namespace
	known, err := w.typed()
	if err != nil {
		return nil, err
	}
	_, resource := kindOf(w.ref)
	switch subject.Kind {
	case watch.KindStatefulSet:
		return []follow.Source{follow.WorkloadSource(follow.Client(apps.StatefulSets(ns)), subject, resource, known)}, nil
	case watch.KindDaemonSet:
		return []follow.Source{follow.WorkloadSource(follow.Client(apps.DaemonSets(ns)), subject, resource, known)}, nil
	}
	selector, err := w.selector()
	return []follow.Source{
		follow.WorkloadSource(follow.Client(apps.Deployments(ns)), subject, resource, known),
		follow.ReplicaSetSource(follow.Client(apps.ReplicaSets(ns)), ns, selector),
	}, err
}

// failedPod is the pod that the cause is about.
func (r *run) failedPod() string {
	if r.latest.Cause != nil && r.found.workload != nil {
		if pod, ok := strings.CutPrefix(r.latest.Cause.Object, "pod/"); ok {
			return pod
		}
	}
	return r.id
}

// ownObjects are the objects that the run makes beside a pod or a workload.
func (r *run) ownObjects() []*unstructured.Unstructured {
	if r.parts != nil {
		return r.parts.Objects
	}
	return r.rendered.Objects
}
