// Package deploy has what standalone and injected share: the values that they are
// given and return, the steps that they report, the checks that they make.
package deploy

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	helm "helm.sh/helm/v3/pkg/release"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/english"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/lock"
	"github.com/berthdev/berth/internal/provision/injection"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/provision/manifest"
	"github.com/berthdev/berth/internal/release"
	"github.com/berthdev/berth/internal/watch/follow"
)

// Deployment is what is to be brought up: rendered, and not written.
type Deployment struct {
	Spec  manifest.Spec
	Chart *release.Rendered
	// Recalled is true for what is made of Helm's record, and not of a blueprint.
	Recalled bool
	// Objects are created for this workspace alone.
	Objects []*unstructured.Unstructured
	// Shared are created once a namespace, if they do not exist, and never deleted.
	Shared []apply.Wanted
	// Parts go into the pod template of a workload; a pod of its own has none.
	Parts injection.Parts
	// OwnPod is true for a pod of its own, which can be followed while another run
	// works on it. The pods of a workload do not change until that is patched.
	OwnPod bool
	// About is what hints need to know about the containers of its pods.
	About About
}

// Render makes the chart of a workspace. It is pure: a chart that cannot be
// rendered is found out before anything is written.
func Render(spec manifest.Spec) (*release.Rendered, error) {
	values, err := spec.Values()
	if err != nil {
		return nil, err
	}
	return release.Render(values)
}

// PodSpec reads the spec of a pod or of a pod template; it is empty if it cannot
// be read: a hint without it is a hint, too.
func PodSpec(object map[string]any, path ...string) (spec corev1.PodSpec) {
	content, _, _ := unstructured.NestedMap(object, path...)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(content, &spec); err != nil {
		return corev1.PodSpec{}
	}
	return spec
}

// Claims are the names of all claims that the pods mount.
func (d Deployment) Claims() (names []string) {
	for _, object := range d.Objects {
		switch object.GetKind() {
		case "Pod":
			for _, volume := range PodSpec(object.Object, "spec").Volumes {
				if volume.PersistentVolumeClaim != nil {
					names = append(names, volume.PersistentVolumeClaim.ClaimName)
				}
			}
		case kindClaim:
			names = append(names, object.GetName())
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Turn is what a run works with while it holds the lock of the workspace.
type Turn struct {
	Lock     *lock.Lock
	Follower *follow.Follower
	// Found is what is there since the lock is held, and Plan what to do about it.
	Found inventory.Found
	Plan  Plan
	// Kept is true if only the pod is missing of what is to be brought up. Then Found may be
	// older than the lock: ErrChanged is the error if it was changed since.
	Kept bool
}

// ErrChanged is the error of a workspace that another run has changed since it was found.
var ErrChanged = errors.New("the workspace was changed meanwhile")

// Result is what bringing up has done. It is also returned with an error.
type Result struct {
	Changes Changes
	// Record is Helm's record, if it has been written or was there.
	Record *helm.Release
	// Pod is the pod that was created or found; of an injected workspace the pods
	// are its workload's.
	Pod *corev1.Pod
	// Reading is the state of the workspace right after; empty if it is not known.
	Reading v1.Snapshot
}

// GoneTime is how long the pods of a workspace that failed are waited for when it
// is removed.
const GoneTime = 40 * time.Second

// Removal is what removing a workspace has done so far.
type Removal struct {
	// Objects is the number of objects that were deleted.
	Objects int
	// Storage are the claims that were deleted or kept.
	Storage []v1.DeletedStorage
	// Again is the command that removes the workspace in the same way.
	Again string
	// Done is what has been done, in a few words.
	Done string
	// Gone is true if there is nothing to wait for.
	Gone bool
	// Found is what was there when the lock was taken.
	Found inventory.Found
	// Follower follows what is terminating; nil unless that is waited for.
	Follower *follow.Follower
}

// Removed adds the objects of a workspace that were deleted.
func (r Removal) Removed(id string, objects apply.Changes) Removal {
	r.Objects += len(objects)
	r.Storage = append(r.Storage, Storage(id, objects.Objects(), false)...)
	done := []string{
		r.Done, english.Count(r.Objects, "object"), english.Storage(r.Storage, false),
		english.Storage(r.Storage, true),
	}
	r.Done = strings.Join(slices.DeleteFunc(done, func(text string) bool { return text == "" }), ", ")
	return r
}

// Left is what there is of a workspace that has been removed.
type Left struct {
	Gone bool
	// What is left, and what to do about it; empty if that is not known.
	What, Hint string
}

// DeletePod deletes this very pod. It is no error if it is gone, or if another one
// has its name now.
func DeletePod(ctx context.Context, r inventory.Reader, pod *corev1.Pod) error {
	err := r.Client.CoreV1().Pods(pod.Namespace).
		Delete(ctx, pod.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &pod.UID}})
	err = kube.Fault(err, kube.Call{Verb: "delete", Resource: "pods", Namespace: pod.Namespace, Name: pod.Name})
	if code := fault.CodeOf(err); code == fault.NotFound || code == fault.Conflict {
		return nil
	}
	return err
}
