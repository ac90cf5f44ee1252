package detect

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/watchtest"
)

const noRoom = `pods "a" is forbidden: exceeded quota: q, requested: pods=1, used: pods=4, limited: pods=4`

// A controller's refusal is known by its condition, or by the latest of its events.
func TestRefusalOfAController(t *testing.T) {
	rs := &appsv1.ReplicaSet{Status: appsv1.ReplicaSetStatus{Conditions: []appsv1.ReplicaSetCondition{{
		Type: appsv1.ReplicaSetReplicaFailure, Status: corev1.ConditionTrue, Message: noRoom,
	}}}}
	compare(t, ReplicaSet(rs), "QuotaExceeded: used: pods=4")
	rs.Status.Conditions[0].Status = corev1.ConditionFalse
	compare(t, ReplicaSet(rs), "")

	failed := warning("", "FailedCreate", `pods "a" is forbidden: not signed`)
	compare(t, Controller([]*corev1.Event{failed}), "PodRefused: not signed")
	compare(t, Controller([]*corev1.Event{failed, warning("", "SuccessfulCreate", "x")}), "")
	compare(t, Controller(nil), "")
}

// What is about the cluster rather than the pod is no rule that the pod breaks, and passes.
func TestRefusals(t *testing.T) {
	for message, test := range map[string]struct {
		code   string
		passes bool
	}{
		`failed calling webhook "a": failed to call webhook: Post "https://s.n.svc:443/x": dial tcp: ` +
			`connection refused`: {cause.WebhookUnreachable, true},
		`admission webhook "a" denied the request: no`:        {cause.PodRefused, false},
		`object is being deleted: pods "db-0" already exists`: {cause.NameInUse, true},
		`pods "a" is forbidden: unable to create new content in namespace n because it is being terminated`: {
			cause.NamespaceTerminating, false,
		},
		`etcdserver: request timed out`:                                {cause.APIServerBusy, true},
		`Pod "a" is invalid: spec.containers[0].image: Required value`: {cause.PodInvalid, false},
		noRoom: {cause.QuotaExceeded, false},
	} {
		if f := refused(message, "replicaset/web", watchtest.Epoch); f.Code != test.code || f.Passes != test.passes ||
			f.NeedsPerson() == test.passes {
			t.Errorf("%s: %s, passes %t, needs a person %t", message, f.Code, f.Passes, f.NeedsPerson())
		}
	}
}
