package injected

import (
	"context"
	"errors"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	kubefake "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/lock"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/injection"
)

// injectedInto is a target whose workspace is in its Deployment.
func injectedInto(t *testing.T) (Target, deploy.Turn) {
	t.Helper()
	target, turn := into(t, "none", "none", nil)
	change, err := injection.Inject(turn.Found.Workload.Object, deploymentOf().Parts)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := deployments(target).Update(t.Context(), &unstructured.Unstructured{Object: change.After},
		metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	return target, turn
}

// deployments is where the workload of a target is.
func deployments(t Target) dynamic.ResourceInterface {
	return t.Client.Dynamic.Resource(schema.GroupVersionResource{
		Group: "apps", Version: "v1", Resource: "deployments",
	}).Namespace("dev")
}

// A workspace is taken out by a stop and by a removal, which say from where, and what is left:
// a workload without it. Stopped again, it is not there.
func TestTakingOut(t *testing.T) {
	for name, take := range map[string]func(Target, deploy.Turn) (deploy.Removal, error){
		"stop": func(target Target, turn deploy.Turn) (deploy.Removal, error) {
			return target.Stop(t.Context(), turn, false)
		},
		"remove": func(target Target, turn deploy.Turn) (deploy.Removal, error) {
			return target.Remove(t.Context(), turn, deploy.Removing{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			target, turn := injectedInto(t)
			removal, err := take(target, turn)
			if err != nil || !strings.HasPrefix(removal.Done, "deployment/web") || removal.Gone ||
				removal.Found.Workload == nil || removal.Found.Workload.Injected() {
				t.Errorf("%+v, %v", removal, err)
			}
			if removal, err = target.Stop(t.Context(), turn, false); err != nil || !removal.Gone ||
				removal.Done != "it is not in deployment/web" {
				t.Errorf("again: %+v, %v", removal, err)
			}
		})
	}
}

// What is left of a workspace whose workload is gone is removed.
func TestRemoveWithoutItsWorkload(t *testing.T) {
	target, turn := into(t, "none", "none", nil)
	left := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Name: id + "-init", Namespace: "dev", UID: "left",
		Labels: map[string]string{kube.LabelCanonicalID: id, kube.LabelInjected: "true"},
	}}
	typed := target.Client.CoreV1().ConfigMaps("dev")
	if _, err := typed.Create(t.Context(), left, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	object, err := kube.Untyped("ConfigMap", left)
	if err != nil {
		t.Fatal(err)
	}
	maps := target.Client.Dynamic.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"})
	if _, err := maps.Namespace("dev").Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := deployments(target).Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	removal, err := target.Remove(t.Context(), turn, deploy.Removing{})
	if err != nil || removal.Found.Workload == nil || removal.Found.Workload.Object != nil {
		t.Errorf("%+v, %v", removal, err)
	}
	if _, err := maps.Namespace("dev").Get(t.Context(), left.Name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("it is there, %v", err)
	}
}

// Nothing is sent once the command has ended, which is what the error says.
func TestNothingIsSentAfterTheEnd(t *testing.T) {
	_, turn := injectedInto(t)
	ended, end := context.WithCancelCause(t.Context())
	end(lock.ErrTaken)
	if err := confirm(ended, turn.Lock, turn.Found.Workload); !errors.Is(err, lock.ErrTaken) {
		t.Error(err)
	}
}

// Undoing says what was taken out, and whether pods that have it are still there.
func TestUndo(t *testing.T) {
	for pods, want := range map[int]string{
		0: "taken out of deployment/web, no objects",
		1: "taken out of deployment/web, no objects, pods that have it are still terminating",
	} {
		t.Run(want, func(t *testing.T) {
			target, turn := injectedInto(t)
			ctx, end := context.WithCancel(t.Context())
			defer end()
			if pods > 0 {
				addTerminatingPod(t, target, end)
			}
			d := deploymentOf()
			d.Spec.JobID = "mine"
			if text, err := target.Undo(ctx, turn, d, deploy.Result{}); err != nil || text != want {
				t.Errorf("it says %q, %v", text, err)
			}
		})
	}
}

// addTerminatingPod adds a pod that has the workspace and is terminating. Waiting is told once it is waited for.
func addTerminatingPod(t *testing.T, target Target, waiting func()) {
	t.Helper()
	pod := podOf("web-1", true)
	pod.Labels = map[string]string{
		kube.LabelCanonicalID: id, kube.LabelInjected: "true", kube.LabelWorkloadKind: "deployment",
		kube.LabelWorkloadName: "web", appsv1.DefaultDeploymentUniqueLabelKey: "5d8f",
	}
	pod.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web-5d8f", UID: "r", Controller: new(true),
	}}
	if _, err := target.Client.CoreV1().Pods("dev").Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	typed, _ := target.Client.Interface.(*kubefake.Clientset)
	typed.PrependWatchReactor("pods", func(clienttesting.Action) (bool, watch.Interface, error) {
		waiting()
		return false, nil, nil
	})
}
