package inventory

import (
	"cmp"
	"context"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/userstring"
)

// lookByPod looks up the workspace that is injected into the workload of a pod that was named,
// which is no workspace by itself.
func (r Reader) lookByPod(ctx context.Context, c candidate, otherwise error) (Target, error) {
	ns := r.Client.Namespace
	pod, err := r.Client.CoreV1().Pods(ns).Get(ctx, c.id, metav1.GetOptions{})
	if err != nil {
		return Target{}, kube.Fault(err, kube.Call{Verb: "get", Resource: "pods", Namespace: ns, Name: c.id})
	}
	if !IsInjected(pod) || !kube.IsOfWorkspace(&pod.ObjectMeta) {
		return Target{}, otherwise
	}
	if err := c.checkOwner(pod); err != nil {
		return Target{}, err
	}
	t, err := r.look(ctx, candidate{id: pod.Labels[kube.LabelCanonicalID], workload: WorkloadOf(pod)})
	t.Pod = pod.Name
	return t, err
}

// checkOwner returns an error if a workspace that exists is named by its pod, and not by its
// owner. Whose one is that does not say so is not guessed.
func (c candidate) checkOwner(of metav1.Object) error {
	if c.owner == "" || of == nil || IsOwnedBy(of, c.owner) {
		return nil
	}
	err := fault.New(fault.PermissionDenied, "workspace %s does not belong to %s", c.id, userstring.Owner(c.owner))
	owner, parseErr := userstring.Parse(OwnerOf(of))
	if parseErr != nil || !IsOwnedBy(of, owner.User) {
		return err.WithHint("whose it is cannot be read; name it by its ID: %s", fault.Word("id/"+c.id))
	}
	owner.Pod = c.id
	return err.WithHint("name its owner: %s", fault.Word(owner.String()))
}

// former returns an error for a workspace that was made when several callers had one username,
// and that somebody names by their former one. Those that are made now say who the API server
// took their user for.
func (r Reader) former(ctx context.Context, c candidate, of metav1.Object) error {
	username := cmp.Or(c.asked.User, c.owner)
	if r.Former == nil || username == "" || of == nil || of.GetAnnotations()[kube.AnnotationUser] != "" ||
		!strings.HasPrefix(of.GetAnnotations()[kube.AnnotationIdentity], "kubernetes/") {
		return nil
	}
	return r.Former(ctx, username)
}

// labelled is what has the labels of a workspace: its pod, also one of which only Helm's
// record is left. It is nil if there is none.
func (f Found) labelled() metav1.Object {
	switch {
	case f.Pod != nil:
		return f.Pod
	case f.Record != nil:
		return wanted(f.Record)
	case f.Exists():
		return &metav1.ObjectMeta{}
	}
	return nil
}
