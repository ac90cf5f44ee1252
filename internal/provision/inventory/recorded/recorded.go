// Package recorded describes workspaces by what is recorded of them, beside what is seen of
// them on the cluster: one that is stopped has no pod that could be seen.
package recorded

import (
	"cmp"
	"strings"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/userstring"
	"github.com/berthdev/berth/internal/watch"
)

// With adds to a workspace what is recorded of it. The reading is that of its pods, or of
// what is left of it without one.
func With(w v1.Workspace, r lifecycle.Record) v1.Workspace {
	if r.ID == "" {
		return w
	}
	seen := lifecycle.Seen{Pods: hasPods(w), Reading: w.Snapshot, Kept: true}
	if !seen.Pods {
		w = named(w, r)
		w.Snapshot = withoutPods(w.Snapshot, w, r)
		w.Startable = w.Stage == v1.StageStopped || w.Stage == v1.StageFailed || w.Gone &&
			r.Desired == v1.DesiredRunning
	}
	w.CreatedAt = earlier(w.CreatedAt, r.CreatedAt)
	actual, cause := seen.Of(r)
	if r.Actual == v1.ActualError && (r.Pending() || !seen.Pods) {
		actual, cause = r.Actual, r.Cause
	}
	w.State = &v1.State{Desired: r.Desired, DesiredAt: r.DesiredAt, Reason: r.Reason, Actual: actual, Cause: cause}
	return w
}

// Of is a workspace of which nothing is seen.
func Of(r lifecycle.Record, namespace string) v1.Workspace {
	w := v1.Workspace{ID: r.ID, Namespace: namespace}
	w.Stage, w.Status, w.Gone = v1.StageUnknown, v1.StatusUnknown, true
	return With(w, r)
}

// named is a workspace with what its record says about whose it is, where nothing else does.
func named(w v1.Workspace, r lifecycle.Record) v1.Workspace {
	w.UserString, w.Blueprint = cmp.Or(w.UserString, r.UserString), cmp.Or(w.Blueprint, r.Blueprint)
	if u, err := userstring.ParseCanonical(w.UserString); err == nil {
		w.Owner, w.Workload = cmp.Or(w.Owner, userstring.Owner(u.User)), cmp.Or(w.Workload, u.Workload.String())
	}
	return w
}

// earlier is the earlier of two times that may not be known. The pod of a workspace may be a later
// one than its first.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// hasPods is false for a workspace without a pod.
func hasPods(w v1.Workspace) bool {
	return w.Stage != v1.StageUnknown || len(w.Containers)+len(w.Replicas) > 0
}

// withoutPods is the reading of a workspace without pods that has a desired state.
func withoutPods(reading v1.Snapshot, w v1.Workspace, r lifecycle.Record) v1.Snapshot {
	if r.Actual == v1.ActualError && r.Desired != v1.DesiredTerminated {
		if object, refused := refusedIn(r); refused {
			return watch.Refused(r.Cause, object, r.ActualAt)
		}
		return v1.Snapshot{Stage: v1.StageUnknown, Status: v1.StatusUnknown, Since: r.ActualAt, Message: r.Cause}
	}
	switch r.Desired {
	case v1.DesiredStopped:
		reading = v1.Snapshot{Stage: v1.StageStopped, Status: v1.StageStopped.Status(), Since: stoppedAt(r)}
	case v1.DesiredTerminated:
		why := "its deletion was interrupted"
		if r.Actual == v1.ActualError && r.Cause != "" {
			why = "it is not deleted: " + r.Cause
		}
		reading = v1.Snapshot{
			Stage: v1.StageTerminating, Status: v1.StatusTerminating, Since: r.DesiredAt,
			Message: why +
				"; complete it: " + r.Deletion(),
		}
	case v1.DesiredRestart:
		reading = v1.Snapshot{
			Stage: v1.StageStopped, Status: v1.StageStopped.Status(), Since: stoppedAt(r),
			Message: "its restart was interrupted; start it",
		}
	case v1.DesiredRunning:
		if reading.Stage == v1.StageUnknown && reading.Message == "" {
			reading.Message = inventory.PodGone(w.ID, w.Namespace, w.UserString)
		}
	}
	return reading
}

// refusedIn is the object that the API server has refused to create, if that is why a workspace
// has no pod: the cause that is recorded has its words.
func refusedIn(r lifecycle.Record) (object string, is bool) {
	if strings.HasPrefix(r.Cause, "admission webhook ") {
		return kube.Object("pod", r.ID), true
	}
	resource, rest, _ := strings.Cut(r.Cause, ` "`)
	name, _, is := strings.Cut(rest, `" is forbidden: `)
	if !is || strings.ContainsAny(resource, " :") || strings.Contains(name, `"`) {
		return "", false
	}
	return kube.Object(strings.TrimSuffix(resource, "s"), name), true
}

// stoppedAt is since when it is stopped; if that is not recorded, since when that is desired.
func stoppedAt(r lifecycle.Record) time.Time {
	if r.Actual == v1.ActualStopped {
		return r.ActualAt
	}
	return r.DesiredAt
}
