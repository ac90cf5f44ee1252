// Package recorded describes workspaces by what is recorded of them, beside what is seen of
// them on the cluster: one that is stopped has no pod that could be seen.
package recorded

import (
	"cmp"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/userstring"
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
		w.Startable = w.Stage == v1.StageStopped || w.Gone && r.Desired == v1.DesiredRunning
	}
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
	if w.CreatedAt.IsZero() {
		w.CreatedAt = r.CreatedAt
	}
	if u, err := userstring.ParseCanonical(w.UserString); err == nil {
		w.Owner, w.Workload = cmp.Or(w.Owner, userstring.Owner(u.User)), cmp.Or(w.Workload, u.Workload.String())
	}
	return w
}

// hasPods is false for a workspace without a pod.
func hasPods(w v1.Workspace) bool {
	return w.Stage != v1.StageUnknown || len(w.Containers)+len(w.Replicas) > 0
}

// withoutPods is the reading of a workspace without pods that is meant to be something.
func withoutPods(reading v1.Snapshot, w v1.Workspace, r lifecycle.Record) v1.Snapshot {
	if r.Actual == v1.ActualError && r.Desired != v1.DesiredTerminated {
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
		reading = v1.Snapshot{Stage: v1.StageTerminating, Status: v1.StatusTerminating, Since: r.DesiredAt, Message: why + "; complete it: " + r.Deletion()}
	case v1.DesiredRestart:
		reading = v1.Snapshot{Stage: v1.StageStopped, Status: v1.StageStopped.Status(), Since: stoppedAt(r), Message: "its restart was interrupted; start it"}
	case v1.DesiredRunning:
		if reading.Stage == v1.StageUnknown && reading.Message == "" {
			reading.Message = inventory.PodGone(w.ID, w.Namespace, w.UserString)
		}
	}
	return reading
}

// stoppedAt is since when it is stopped; if that is not recorded, since when it is meant to be.
func stoppedAt(r lifecycle.Record) time.Time {
	if r.Actual == v1.ActualStopped {
		return r.ActualAt
	}
	return r.DesiredAt
}
