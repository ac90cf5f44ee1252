package standalone

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/rbac"
)

// MayStop checks the permissions to end the pod.
func (t Target) MayStop(may deploy.Permissions) error {
	return may.Check("stopping "+t.ID, rbac.Stop, nil)
}

// Stop ends the pod, which says before that it is stopped rather than deleted. One that was
// replaced since it was found is left: the lock was another's then.
func (t Target) Stop(ctx context.Context, turn deploy.Turn, wait bool) (removal deploy.Removal, err error) {
	pod := turn.Found.Pod
	if pod == nil {
		return deploy.Removal{Gone: true, Done: "it has no pod"}, nil
	}
	if err := turn.Lock.Confirm(ctx); err != nil {
		return removal, err
	}
	if pod.DeletionTimestamp == nil {
		if err := t.request(ctx, pod); err != nil {
			return removal, err
		}
		if err := deploy.DeletePod(ctx, t.Reader, pod); err != nil {
			return removal, err
		}
	}
	removal.Done, removal.Again = "pod "+pod.Name, kube.Command("stop", t.ID, t.Client.Namespace)
	if wait {
		found := inventory.Found{Pod: pod, Version: turn.Found.Version}
		if removal.Follower, err = t.Watch(ctx, found, deploy.Deployment{}); err != nil {
			return removal, err
		}
		removal.Follower.Expect(pod.UID)
	}
	return removal, nil
}

// request marks the pod as one that is stopped, for programs that see it end.
func (t Target) request(ctx context.Context, pod *corev1.Pod) error {
	patch := fmt.Sprintf(`{"metadata":{"uid":%q,"annotations":{%q:"true"}}}`, pod.UID, kube.StopRequested)
	_, err := t.Client.CoreV1().Pods(pod.Namespace).
		Patch(ctx, pod.Name, types.MergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: kube.FieldManager})
	err = kube.Fault(err, kube.Call{Verb: "patch", Resource: "pods", Namespace: pod.Namespace, Name: pod.Name})
	switch fault.CodeOf(err) {
	case fault.NotFound:
		return nil
	case fault.Conflict:
		return fault.New(fault.Conflict, "pod %s was replaced while workspace %s was being stopped", pod.Name, t.ID).
			WithHint("stop it again")
	}
	return err
}
