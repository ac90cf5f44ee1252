package provision

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/injection"
	"github.com/berthdev/berth/internal/watch"
)

// How often a patch is tried on a template that somebody else has changed
// meanwhile, and after which pause.
const (
	patchTries = 20
	patchPause = 50 * time.Millisecond
)

// fieldManager is the name under which berth owns fields of a workload.
const fieldManager = "berth"

// patch changes a workload as it was seen, or as it is by then: the change is
// computed anew from each version. It leaves the newest version in w.
func (r *run) patch(ctx context.Context, w *workload, change func(map[string]any) (injection.Change, error)) error {
	api, call := r.api(w.ref, "patch")
	for try := 1; ; try++ {
		c, err := change(w.object)
		if err != nil || c.Patch == nil {
			return err
		}
		made, err := api.Patch(ctx, w.ref.Name, types.JSONPatchType, c.Patch, metav1.PatchOptions{FieldManager: fieldManager})
		if err == nil {
			w.object = made.Object
			w.record, err = injection.RecordOf(made.GetAnnotations())
			return err
		}
		again, readErr := r.changedMeanwhile(ctx, w, err)
		if readErr != nil {
			return readErr
		}
		if !again || try == patchTries {
			return kube.Fault(err, call)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(patchPause):
		}
	}
}

// changedMeanwhile says whether a patch was refused because the workload is not
// any more what it was made for, and reads it again if so. A test that fails is
// an invalid patch to the API server, as is one that makes no sense: what tells
// them apart is the version.
func (r *run) changedMeanwhile(ctx context.Context, w *workload, err error) (bool, error) {
	if !apierrors.IsConflict(err) && !apierrors.IsInvalid(err) {
		return false, nil
	}
	now, readErr := r.readWorkload(ctx, w.id, w.ref)
	if readErr != nil {
		return false, readErr
	}
	if now.object == nil {
		return false, fault.New(fault.NotFound, "%s is gone: somebody has deleted it", w.ref)
	}
	changed := version(now.object) != version(w.object)
	w.object, w.record = now.object, now.record
	return changed, nil
}

func version(object map[string]any) string {
	return (&unstructured.Unstructured{Object: object}).GetResourceVersion()
}

// unstick deletes the pods of a StatefulSet that have the workspace of another
// job, or of any, and have not become ready: the controller waits for them before
// it makes others, and they wait in vain.
func (r *run) unstick(ctx context.Context, job string) error {
	w := r.found.workload
	if kind, _ := kindOf(w.ref); kind != watch.KindStatefulSet || w.object == nil {
		return nil
	}
	set := (&unstructured.Unstructured{Object: w.object}).GetUID()
	pods, err := r.podsInjected(ctx, r.id)
	if err != nil {
		return err
	}
	for _, pod := range pods {
		owner := metav1.GetControllerOf(pod)
		if isReady(pod) || owner == nil || owner.UID != set || job != "" && pod.Labels[kube.LabelJobID] == job {
			continue
		}
		if err := r.deletePod(ctx, pod); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) deletePod(ctx context.Context, pod *corev1.Pod) error {
	err := r.Client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &pod.UID}})
	if err = kube.Fault(err, kube.Call{Verb: "delete", Resource: "pods", Namespace: pod.Namespace, Name: pod.Name}); isNotFound(err) {
		return nil
	}
	if fault.CodeOf(err) == fault.Conflict {
		return nil // another pod has its name by now
	}
	return err
}
