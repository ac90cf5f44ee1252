package health

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/kube"
)

// How long a Deployment may keep conditions of the revision before: as long as the rollout that
// was begun then may take, and no less than renewTime, in which a controller that is busy comes
// to renew them. After that, what still stands is true of the new revision as well.
const (
	renewTime       = 10 * time.Second
	defaultDeadline = 600 // seconds, as the API server fills it in
)

// withoutOutdated is a Deployment without the conditions of before it was last written. Its
// controller says that it has observed the new generation before it takes back that the rollout
// before has failed, above all if it goes back to a ReplicaSet that exists. The time is when the
// conditions count again that are left out; zero if none is.
func withoutOutdated(object *unstructured.Unstructured, now time.Time) (without *unstructured.Unstructured,
	until time.Time,
) {
	if object.GroupVersionKind().GroupKind().String() != "Deployment.apps" {
		return object, time.Time{}
	}
	written := kube.WrittenAt(object)
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	var kept []any
	for _, c := range conditions {
		condition, _ := c.(map[string]any)
		patience := patienceWith(object, condition)
		if ends := written.Add(patience); patience > 0 && isBefore(condition, written) && now.Before(ends) {
			until = earlier(until, ends)
			continue
		}
		kept = append(kept, c)
	}
	if until.IsZero() {
		return object, until
	}
	without = object.DeepCopy()
	_ = unstructured.SetNestedSlice(without.Object, kept, "status", "conditions") // it has a status
	return without, until
}

// patienceWith is how long after a change a condition may be one of before; zero for a condition
// by which nothing has failed.
func patienceWith(object *unstructured.Unstructured, condition map[string]any) time.Duration {
	switch {
	case condition["type"] == "ReplicaFailure":
		return renewTime
	case condition["type"] == "Progressing" && condition["reason"] == "ProgressDeadlineExceeded":
		seconds, found, _ := unstructured.NestedInt64(object.Object, "spec", "progressDeadlineSeconds")
		if !found {
			seconds = defaultDeadline
		}
		return max(time.Duration(seconds)*time.Second, renewTime)
	}
	return 0
}

// isBefore is true for a condition that is no newer than a change; times are in whole seconds, and
// no deadline passes within the second of the change.
func isBefore(condition map[string]any, written time.Time) bool {
	text, _ := condition["lastUpdateTime"].(string)
	updated, err := time.Parse(time.RFC3339, text)
	return err == nil && !updated.After(written)
}

// isObserved is false as long as the controller of an object has not seen its last change: its
// status is about what was wanted before.
func isObserved(object *unstructured.Unstructured) bool {
	observed, found, _ := unstructured.NestedInt64(object.Object, "status", "observedGeneration")
	return !found || observed >= object.GetGeneration()
}
