package inventory

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// lookByPod looks up the workspace that is injected into the workload of a pod that was named,
// which is no workspace by itself.
func (r Reader) lookByPod(ctx context.Context, c candidate, otherwise error) (Target, error) {
	ns := r.Client.Namespace
	pod, err := r.Client.CoreV1().Pods(ns).Get(ctx, c.id, metav1.GetOptions{})
	if err != nil {
		return Target{}, kube.Fault(err, kube.Call{Verb: "get", Resource: "pods", Namespace: ns, Name: c.id})
	}
	if !IsInjected(pod) || pod.Labels[kube.LabelCanonicalID] == "" {
		return Target{}, otherwise
	}
	if err := c.checkOwner(true, pod.Labels[kube.LabelUsername]); err != nil {
		return Target{}, err
	}
	t, err := r.look(ctx, candidate{id: pod.Labels[kube.LabelCanonicalID], workload: WorkloadOf(pod)})
	t.Pod = pod.Name
	return t, err
}

// checkOwner returns an error if a workspace that exists is named by its pod, and not by its
// owner. Whose one is that does not say so is not guessed.
func (c candidate) checkOwner(exists bool, label string) error {
	if c.owner == "" || !exists || label == kube.LabelValue(c.owner) {
		return nil
	}
	err := fault.New(fault.PermissionDenied, "workspace %s does not belong to %s", c.id, c.owner)
	if label == "" {
		return err.WithHint("whose it is cannot be read; name it by its ID: %s", fault.Word("id/"+c.id))
	}
	return err.WithHint("name its owner: %s", fault.Word(label+"~pod="+c.id))
}

// ownerLabel is the username on the pod, also on one of which only Helm's record is left.
func (f Found) ownerLabel() string {
	switch {
	case f.Pod != nil:
		return f.Pod.Labels[kube.LabelUsername]
	case f.Record != nil:
		return wanted(f.Record).Labels[kube.LabelUsername]
	}
	return ""
}
