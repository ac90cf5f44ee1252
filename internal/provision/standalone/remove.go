package standalone

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/lock"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/provision/manifest"
	"github.com/berthdev/berth/internal/rbac"
	"github.com/berthdev/berth/internal/watch"
	"github.com/berthdev/berth/internal/watch/follow"
)

// MayRemove checks the permissions to remove what the record names.
func (t Target) MayRemove(_ context.Context, found inventory.Found, may deploy.Permissions) error {
	named := append(t.named(found), found.Kept...)
	return may.Check("deleting "+t.ID, rbac.Delete, append(named, manifest.Certified(t.ID, named)...))
}

// Remove deletes objects and records: what there is now, since the lock is held.
// The record is deleted last, so that a run that is cut off finds it again.
func (t Target) Remove(ctx context.Context, turn deploy.Turn, how deploy.Removing) (removal deploy.Removal, err error) {
	found, owned, err := t.survey(ctx, turn.Found)
	if err != nil {
		return removal, err
	}
	removal.Gone = found.Pod == nil
	if how.Wait && !removal.Gone {
		if removal.Follower, err = t.Watch(ctx, found, deploy.Deployment{}); err != nil {
			return removal, err
		}
		removal.Follower.Expect(found.Pod.UID)
	}
	owned.warn(t.Steps)
	removal.Again = how.Command(t.ID, t.Client.Namespace)
	if how.KeepStorage {
		claims, rest, err := deploy.Keep(ctx, t.applier(turn.Lock, apply.DryRunNone), owned.objects,
			cmp.Or(found.UserString(), turn.Found.UserString()))
		if err != nil {
			return removal, err
		}
		owned.kept, owned.objects = append(owned.kept, claims...), rest
	}
	removal.Storage = deploy.Storage(t.ID, owned.kept, true)
	removed, _, err := t.uninstall(ctx, turn.Lock, owned, apply.DryRunNone)
	return removal.Removed(t.ID, removed), err
}

// uninstall deletes a whole workspace: its objects, the Secrets beside them and, last,
// Helm's records. It returns what was deleted, also with an error.
func (t Target) uninstall(ctx context.Context, held *lock.Lock, owned belongings, dry apply.DryRun) (removed,
	beside apply.Changes, err error,
) {
	remove := t.applier(held, dry).Remove
	if removed, err = remove(ctx, owned.objects); err != nil {
		return removed, nil, err
	}
	// cert-manager leaves the Secret of a certificate behind, and creates it again
	// as long as the certificate is there.
	if beside, err = remove(ctx, owned.secrets); err != nil {
		return removed, beside, err
	}
	purged, err := t.Records().Purge(ctx, t.ID, confirmer(held), dry)
	return removed, append(beside, purged...), err
}

// confirmer makes sure that the lock is held still; a dry run has none.
func confirmer(held *lock.Lock) func(context.Context) error {
	if held == nil {
		return func(context.Context) error { return nil }
	}
	return held.Confirm
}

// AwaitGone waits until the pod is gone. What goes wrong with it meanwhile is of
// no interest: its ConfigMaps are gone before it is.
func (t Target) AwaitGone(ctx context.Context, removal deploy.Removal) (deploy.Left, error) {
	err := removal.Follower.Run(ctx, t.Policy, t.Now, func(c follow.Change) (done bool) {
		c.Snapshot.Warnings, c.Warnings, c.Objects = nil, nil, nil
		verdict := c.Snapshot.Verdict()
		c.Changed = c.Changed && (verdict == v1.VerdictTerminating || verdict == v1.VerdictGone)
		t.Steps.Changed(c, deploy.AboutPod(t.Client.Namespace, "", ""))
		return verdict == v1.VerdictGone
	})
	left := deploy.Left{Gone: err == nil}
	if pod := terminating(removal.Follower); err != nil && pod != nil {
		left.What, left.Hint = stillThere(pod, t.Now(), removal.Again)
	}
	return left, err
}

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

// terminating is the pod that is followed until it is gone; nil without one.
func terminating(follower *follow.Follower) *corev1.Pod {
	if follower == nil {
		return nil
	}
	pod, gone := follower.State().Pod()
	if gone || pod != nil && pod.DeletionTimestamp == nil {
		return nil
	}
	return pod
}

// stillThere describes a pod that has been deleted and is not gone, and says what
// to do about it; again is the command that goes on waiting.
func stillThere(pod *corev1.Pod, now time.Time, again string) (what, hint string) {
	left := pod.DeletionTimestamp.Sub(now).Round(time.Second)
	parts := []string{"phase " + string(pod.Status.Phase), fmt.Sprintf("%s of its grace period left", left)}
	hint = "keep waiting with `" + again + "`"
	if left <= 0 {
		parts[1] = "its grace period has expired"
		hint = "its node has not reported that its containers ended: " +
			fault.Command("kubectl", "describe", "pod", pod.Name, "--namespace", pod.Namespace)
	}
	if held := watch.HeldBy(pod); held != "" {
		parts = append(parts, held)
		hint = "whatever set the finalizer has to remove it; if nothing does: " +
			fault.Command("kubectl", "patch", "pod", pod.Name, "--namespace", pod.Namespace, "--type", "merge",
				"--patch",
				`{"metadata":{"finalizers":null}}`)
	}
	return fmt.Sprintf("pod %s is still there: %s", pod.Name, strings.Join(parts, ", ")), hint
}
