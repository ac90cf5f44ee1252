package injected

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/english"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/injection"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/provision/workload"
	"github.com/berthdev/berth/internal/rbac"
	"github.com/berthdev/berth/internal/watch"
	"github.com/berthdev/berth/internal/watch/follow"
)

// MayRemove checks the permissions to take the workspace out of its workload.
func (t Target) MayRemove(ctx context.Context, _ inventory.Found, may deploy.Permissions) error {
	objects, err := workload.Objects(ctx, t.Client, t.ID)
	if err != nil && fault.CodeOf(err) != fault.PermissionDenied {
		return err
	}
	return may.Check("deleting "+t.ID, rbac.Inject, objects, t.resources()...)
}

// Remove patches the workload and then deletes the objects, so that no new pod waits
// for a ConfigMap that is gone. A running pod keeps what it has mounted.
func (t Target) Remove(ctx context.Context, wait bool) (removal deploy.Removal, err error) {
	w, err := workload.Read(ctx, t.Client, t.ID, t.Ref)
	if err != nil {
		return removal, err
	}
	removal.Found.Workload = w
	if wait {
		if removal.Follower, err = t.Watch(ctx, removal.Found, deploy.Deployment{}); err != nil {
			return removal, err
		}
	}
	_, objects, err := t.takeOut(ctx, w, t.eject, apply.DryRunNone)
	if err != nil {
		return removal, err
	}
	removed, err := t.applier(apply.DryRunNone).Remove(ctx, objects)
	removal.Objects, removal.Done = len(removed), t.Ref.String()+", "+english.Plural(len(removed), "object")
	return removal, err
}

// eject computes the patch that takes the workspace out of its workload.
func (t Target) eject(object map[string]any) (injection.Change, error) {
	return injection.Eject(object, t.ID)
}

// takeOut applies the change that takes the workspace out of its workload, and
// returns the objects that are left of it.
func (t Target) takeOut(ctx context.Context, w *workload.Workload, change change, dry apply.DryRun) (patched apply.Changes, left []*unstructured.Unstructured, err error) {
	if w.Object != nil {
		var newest *workload.Workload
		if newest, patched, err = t.patch(ctx, w, change, dry); err != nil {
			return nil, nil, err
		}
		if dry == apply.DryRunNone {
			if err := t.deleteStuckPods(ctx, newest, ""); err != nil {
				return nil, nil, err
			}
		}
	}
	left, err = workload.Objects(ctx, t.Client, t.ID)
	return patched, left, err
}

// AwaitGone waits until no pod has the workspace any more. Pods that keep it by
// themselves are not waited for.
func (t Target) AwaitGone(ctx context.Context, removal deploy.Removal) (gone bool, err error) {
	w := removal.Found.Workload
	if t.warnIfPodsStay(w) {
		return false, nil
	}
	reported := -1
	err = t.awaitClean(ctx, w, removal.Follower, func(pods []*corev1.Pod) {
		if len(pods) != reported {
			reported = len(pods)
			t.Steps.Reached(leaving(t.ID, pods, t.Now().UTC()))
		}
	})
	return err == nil, err
}

// awaitClean waits for the rollout of pods without the workspace. Failures of those
// that are terminating are ignored. A pod of a StatefulSet that was created
// meanwhile and cannot become ready would block the rollout: it is deleted.
func (t Target) awaitClean(ctx context.Context, w *workload.Workload, follower *follow.Follower, report func([]*corev1.Pod)) error {
	tried := map[types.UID]bool{}
	return follower.Until(ctx, func(s watch.State) bool {
		pods := s.Pods()
		for _, pod := range pods {
			if broken(pod) && !tried[pod.UID] {
				tried[pod.UID] = true
				_ = t.deleteStuckPods(ctx, w, "") // it helps, and the waiting goes on without it
			}
		}
		report(pods)
		return len(pods) == 0
	})
}
