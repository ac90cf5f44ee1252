package inventory

import (
	"cmp"
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/workload"
	"github.com/berthdev/berth/internal/watch"
)

// ReasonNoPod is the reason of the error about a workload none of whose pods has the
// workspace: one may, later.
const ReasonNoPod = "NO_POD"

// Pods are the pods of a workspace: one, or one a replica of the workload that
// it is injected into, the one to enter first.
func (r Reader) Pods(ctx context.Context, t *Target) ([]*corev1.Pod, error) {
	r = r.In(t.Namespace)
	if t.Found.Workload == nil {
		pod, err := r.Client.CoreV1().Pods(t.Namespace).Get(ctx, t.ID, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil, t.withoutPod()
		}
		if err != nil {
			return nil, kube.Fault(err, kube.Call{Verb: "get", Resource: "pods", Namespace: t.Namespace, Name: t.ID})
		}
		return []*corev1.Pod{pod}, nil
	}
	pods, err := workload.Pods(ctx, r.Client, t.ID)
	if t.Pod != "" {
		pods = slices.DeleteFunc(pods, func(pod *corev1.Pod) bool { return pod.Name != t.Pod })
	}
	if err == nil && len(pods) == 0 {
		ref := t.Found.Workload.Ref.String()
		err = fault.New(fault.Failed, "no pod of %s has workspace %s", ref, t.ID).
			WithHint("see why: %s", fault.Command("kubectl", "describe", ref, "--namespace", t.Namespace)).
			WithReason(ReasonNoPod)
	}
	return pods, err
}

// withoutPod is the error about a workspace whose pod is not there. Which of the two it
// is, the record of its state says.
func (t *Target) withoutPod() error {
	err := fault.New(fault.NotFound, "workspace %s has no pod: it is stopped, or its pod was deleted", t.ID).
		WithReason(ReasonPodGone)
	err.Hint = StartIt(cmp.Or(t.Found.UserString(), "id/"+t.ID), "--namespace", t.Namespace)
	return err
}

// Subject is what explains the state of the workspace: its pod, or its workload.
func (t *Target) Subject() watch.Subject {
	if w := t.Found.Workload; w != nil {
		return workload.Subject(t.Namespace, w.Ref)
	}
	return watch.Subject{Kind: watch.KindPod, Namespace: t.Namespace, Name: t.ID}
}
