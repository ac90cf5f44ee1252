// Package health says how far the cluster is with objects: of one, by its status, and of
// a set, as it changes. It makes no request of its own.
package health

import (
	"strings"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/kube"
)

// State is how far the cluster is with an object.
type State string

// An object is as it was wanted, on its way there, or will not get there by itself.
const (
	Current    State = "Current"
	InProgress State = "InProgress"
	Failed     State = "Failed"
)

// StateOf reads the state of an object from its status, by the rules of kstatus and those that it does not have: an
// APIService has to be available, a pod that has failed is no success, replicas that are refused are said, and what a
// Deployment still says of the revision before says nothing. The message says why.
func StateOf(object *unstructured.Unstructured) (State, string) {
	state, message, _ := stateAt(object, time.Now())
	return state, message
}

// stateAt is the state at a time, and when time alone may change it; zero if it will not:
// kstatus takes a pod that waits for a node for a failure after some time.
func stateAt(object *unstructured.Unstructured, now time.Time) (state State, message string, again time.Time) {
	object, again = withoutOutdated(object, now)
	state, message = byStatus(object)
	if object.GetKind() == "Pod" && state == InProgress {
		again = now.Add(status.ScheduleWindow)
	}
	return state, message, again
}

func byStatus(object *unstructured.Unstructured) (State, string) {
	switch object.GroupVersionKind().GroupKind().String() {
	case "APIService.apiregistration.k8s.io":
		return ofAPIService(object)
	case "Pod":
		if phase, _, _ := unstructured.NestedString(object.Object, "status", "phase"); phase == "Failed" {
			message, _, _ := unstructured.NestedString(object.Object, "status", "message")
			return Failed, strings.TrimSuffix("the pod has failed: "+message, ": ")
		}
	}
	result, err := status.Compute(object)
	if err != nil {
		return Failed, err.Error()
	}
	switch result.Status {
	case status.CurrentStatus:
		return Current, result.Message
	case status.FailedStatus:
		return Failed, withReason(object, result.Message)
	}
	if message, refused := refusedReplicas(object); message != "" && isObserved(object) {
		if refused {
			return Failed, message
		}
		return InProgress, message
	}
	return InProgress, result.Message
}

// ofAPIService is the state of an APIService, of which kstatus knows no conditions.
func ofAPIService(object *unstructured.Unstructured) (State, string) {
	if object.GetDeletionTimestamp() != nil {
		return InProgress, "it is being deleted"
	}
	available := conditionOf(object, "Available")
	if available["status"] == "True" {
		return Current, "the API is available"
	}
	if message, _ := available["message"].(string); message != "" {
		return InProgress, message
	}
	return InProgress, "the API is not available yet"
}

// refusedReplicas is what keeps a workload from making its pods; refused if that is a quota or an admission policy,
// which the workload cannot get around by itself. What it refers to may come yet.
func refusedReplicas(object *unstructured.Unstructured) (message string, refused bool) {
	failure := conditionOf(object, "ReplicaFailure")
	if failure["status"] != "True" {
		return "", false
	}
	message, _ = failure["message"].(string)
	return message, strings.Contains(message, " is forbidden: ") &&
		!strings.Contains(message, "error looking up service account") &&
		!strings.Contains(message, "failed calling webhook")
}

// withReason adds to a message what the object's own condition says.
func withReason(object *unstructured.Unstructured, message string) string {
	for _, kind := range []string{"Failed", "Progressing"} {
		if text, _ := conditionOf(object, kind)["message"].(string); text != "" {
			return message + ": " + text
		}
	}
	return message
}

// conditionOf is a condition of an object; nil if it has none of that type.
func conditionOf(object *unstructured.Unstructured, kind string) map[string]any {
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, c := range conditions {
		if condition, _ := c.(map[string]any); condition["type"] == kind {
			return condition
		}
	}
	return nil
}

// How long a Deployment may keep conditions of the revision before: as long as the rollout that
// was begun then may take, and no less than renewTime, in which a controller that is busy comes
// to renew them. After that, what still stands is true of the new revision as well.
const (
	renewTime       = 10 * time.Second
	defaultDeadline = 600 // seconds, as the API server fills it in
)

// withoutOutdated is a Deployment without the conditions of before it was last written. Its controller says that it has
// observed the new generation before it takes back that the rollout before has failed, above all if it goes back to a
// ReplicaSet that exists. The time is when the conditions count again that are left out; zero if all of them count.
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
