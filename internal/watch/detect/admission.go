package detect

import (
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/pattern"
	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/evidence"
)

const failedCreate = "FailedCreate"

// Refusal is the cause of a pod that the API server did not accept, by its
// message, from a controller or from the client that sent the pod. The object is
// kind/name of the one that was to be created, or of its controller.
func Refusal(message, object string) *v1.Cause {
	return &v1.Cause{Code: refusalCode(message), Message: message, Object: object}
}

// refusalCode sorts the API server's words.
func refusalCode(message string) string {
	has := func(words string) bool { return strings.Contains(message, words) }
	switch {
	case has("exceeded quota"), has("failed quota"):
		return cause.QuotaExceeded
	case has("failed calling webhook"):
		return cause.WebhookUnreachable
	case has("because it is being terminated"):
		return cause.NamespaceTerminating
	case has("object is being deleted"), has("already exists"):
		return cause.NameInUse
	case has("etcdserver:"), has("the server is currently unable"),
		has("the server was unable to return a response in the time"),
		has("Timeout: request did not complete"), has("too many requests"):
		return cause.APIServerBusy
	case invalid.MatchString(message):
		return cause.PodInvalid
	}
	return cause.PodRefused
}

const invalid pattern.Expr = `\bis invalid: `

// passesByItself are the refusals that are not about the pod.
func passesByItself(code string) bool {
	return code == cause.WebhookUnreachable || code == cause.NameInUse || code == cause.APIServerBusy
}

// ReplicaSet is why a ReplicaSet has fewer pods than it wants; nil if the API
// server accepts them.
func ReplicaSet(rs *appsv1.ReplicaSet) *cause.Finding {
	for _, c := range rs.Status.Conditions {
		if c.Type == appsv1.ReplicaSetReplicaFailure && c.Status == corev1.ConditionTrue {
			return refused(c.Message, kube.Object("ReplicaSet", rs.Name), c.LastTransitionTime.Time)
		}
	}
	return nil
}

// Controller is the same by the events about a controller, for the kinds that
// have no condition for it.
func Controller(events []*corev1.Event) *cause.Finding {
	if e := evidence.Latest(events, failedCreate, "SuccessfulCreate"); e != nil && e.Reason == failedCreate {
		return refused(evidence.Text(e), evidence.ObjectOf(e), evidence.FirstSeen(e))
	}
	return nil
}

// refused is a pod that its controller tries to create again and again.
func refused(message, object string, begun time.Time) *cause.Finding {
	c := Refusal(message, object)
	return &cause.Finding{Cause: *c, Begun: begun, Passes: passesByItself(c.Code)}
}
