// Package deploy has what standalone and injected share: the values that they are
// given and return, the steps that they report, the checks that they make; and the
// lock of a workspace.
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
	"github.com/berthdev/berth/internal/rbac"
	"github.com/berthdev/berth/internal/release"
	"github.com/berthdev/berth/internal/watch/follow"
)

// Deployment is what is to be brought up: rendered, and not written.
type Deployment struct {
	Spec  manifest.Spec
	Chart *release.Rendered
	// FromHelmRecord is true for what is made of Helm's record, and not of a blueprint.
	FromHelmRecord bool
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

// Plan is what a provisioning does about what it has found.
type Plan string

// The plans.
const (
	Create  Plan = "create"  // nothing is there: the run that creates the record is the first
	Install Plan = "install" // something is there, but no pod
	Refuse  Plan = "refuse"  // it is running
	Resume  Plan = "resume"  // it is starting: complete what is missing, and follow it
	Heal    Plan = "heal"    // it is there, and something that belongs to it is gone: create that, and follow it
	Replace Plan = "replace" // it failed, stopped or was asked to stop: make a new one
	Await   Plan = "await"   // its pod is terminating: wait for that, then install
	Update  Plan = "update"  // it is not what it is to be: make it again, as a revision of its own
)

// String describes the plan in a few words; it is empty if there is nothing to say.
func (p Plan) String() string {
	switch p {
	case Refuse:
		return "already running"
	case Resume:
		return "already starting: following it"
	case Heal:
		return "something that belongs to it is gone: creating it again"
	case Replace:
		return "failed or stopped: replacing it"
	case Await:
		return "the old one is terminating: waiting for that"
	}
	return ""
}

// Writes says whether the workspace is to be made, for a job of this run. Otherwise
// it stays that of the job that made it.
func (p Plan) Writes() bool { return p != Refuse && p != Resume && p != Heal }

// Permissions are what the caller may do.
type Permissions struct {
	rbac.Review
	// Unread is the refusal of a read that was made before: it is reported
	// together with whatever else is missing.
	Unread error
}

// Check reports all permissions that the caller lacks for a command and such
// objects. A read that was refused before is reported if nothing else is missing.
func (p Permissions) Check(doing, command string, objects []*unstructured.Unstructured, resources ...string) error {
	row := rbac.Named(command)
	missing := p.Missing(row.Needs(append(resourcesOf(objects), resources...)...))
	if err := row.Denied(doing, p.Namespace, missing); err != nil {
		return err
	}
	return p.Unread
}

// resourcesOf are the resources of objects, as the rules of a Role name them.
func resourcesOf(objects []*unstructured.Unstructured) (names []string) {
	for _, object := range objects {
		if resource, known := kube.ResourceOf(object.GroupVersionKind()); known {
			names = append(names, resource.Resource)
		} else {
			names = append(names, strings.ToLower(object.GetKind()))
		}
	}
	return names
}

// Changes are what a run has done.
type Changes struct {
	Objects apply.Changes
	// Begun is true once something else may have been written, of which the answer
	// may be lost: Helm's record, or the patch of a workload.
	Begun bool
	// Replaced is true if the workload had the workspace before.
	Replaced bool
}

// Any says whether anything may have been created.
func (c Changes) Any() bool { return c.Begun || len(c.Objects.With(apply.Created)) > 0 }

// Removable are those of the wanted objects that this run may remove: what it
// created and, in the workspace's first run, what it may have created although the
// answer was lost, which has to be asked whose it is. A claim may hold data: it has to
// be known as created.
func (c Changes) Removable(wanted []*unstructured.Unstructured, namespace string, first bool) (mine,
	unsure []*unstructured.Unstructured,
) {
	for _, object := range wanted {
		change, known := c.Objects.Of(object, namespace)
		switch {
		case change.Action == apply.Created:
			mine = append(mine, change.Object) // this very one, by its UID
		case first && !known && object.GetKind() != kindClaim:
			unsure = append(unsure, object)
		}
	}
	return mine, unsure
}

// Keeps says whether an object stays when the workspace is removed: a claim that
// this run is not known to have created. The object is one of the cluster.
func (c Changes) Keeps(object *unstructured.Unstructured) bool {
	change, _ := c.Objects.Of(object, "")
	return object.GetKind() == kindClaim && change.Action != apply.Created
}

const kindClaim = "PersistentVolumeClaim"
