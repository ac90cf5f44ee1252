package provision

import (
	"cmp"
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/watch"
)

// Pods are the pods of a workspace: one, or one a replica of the workload that
// it is injected into, the one to enter first.
func (p *Provisioner) Pods(ctx context.Context, t *Target) ([]*corev1.Pod, error) {
	p = p.in(t.Namespace)
	if t.found.workload == nil {
		pod, err := p.Client.CoreV1().Pods(t.Namespace).Get(ctx, t.ID, metav1.GetOptions{})
		if err != nil {
			return nil, kube.Fault(err, kube.Call{Verb: "get", Resource: "pods", Namespace: t.Namespace, Name: t.ID})
		}
		return []*corev1.Pod{pod}, nil
	}
	pods, err := p.podsInjected(ctx, t.ID)
	if err == nil && len(pods) == 0 {
		err = noPods(t.ID, t.found.workload.ref.String(), t.Namespace)
	}
	return pods, err
}

// Subject is what explains how the workspace stands: its pod, or its workload.
func (t *Target) Subject() watch.Subject {
	if w := t.found.workload; w != nil {
		kind, _ := kindOf(w.ref)
		return watch.Subject{Kind: kind, Namespace: t.Namespace, Name: w.ref.Name}
	}
	return watch.Subject{Kind: watch.KindPod, Namespace: t.Namespace, Name: t.ID}
}

// preferred orders pods by how well they can be entered: those that are ready
// before the others, the newest first. Those that are going are left out.
func preferred(all []corev1.Pod) []*corev1.Pod {
	var pods []*corev1.Pod
	for i := range all {
		if all[i].DeletionTimestamp == nil {
			pods = append(pods, &all[i])
		}
	}
	slices.SortStableFunc(pods, func(a, b *corev1.Pod) int {
		return cmp.Or(
			-cmp.Compare(rank(a), rank(b)),
			b.CreationTimestamp.Compare(a.CreationTimestamp.Time),
			cmp.Compare(a.Name, b.Name),
		)
	})
	return pods
}

func rank(pod *corev1.Pod) int {
	if isReady(pod) {
		return 1
	}
	return 0
}

func isReady(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}
