package cause

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/watch/watchtest"
)

const noRoom = `pods "a" is forbidden: exceeded quota: q, requested: pods=1, used: pods=4, limited: pods=4`

// A controller's refusal is known by its condition, or by the latest of its events.
func TestRefusalOfAController(t *testing.T) {
	rs := &appsv1.ReplicaSet{Status: appsv1.ReplicaSetStatus{Conditions: []appsv1.ReplicaSetCondition{{
		Type: appsv1.ReplicaSetReplicaFailure, Status: corev1.ConditionTrue, Message: noRoom,
	}}}}
	compare(t, OfReplicaSet(rs), "QuotaExceeded: used: pods=4")
	rs.Status.Conditions[0].Status = corev1.ConditionFalse
	compare(t, OfReplicaSet(rs), "")

	failed := warning("", "FailedCreate", `pods "a" is forbidden: not signed`)
	compare(t, OfController([]*corev1.Event{failed}), "PodRefused: not signed")
	compare(t, OfController([]*corev1.Event{failed, warning("", "SuccessfulCreate", "x")}), "")
	compare(t, OfController(nil), "")
}

// What is about the cluster rather than the pod is no rule that the pod breaks, and passes.
func TestRefusals(t *testing.T) {
	for message, test := range map[string]struct {
		code   string
		passes bool
	}{
		`failed calling webhook "a": failed to call webhook: Post "https://s.n.svc:443/x": dial tcp: connection refused`: {WebhookUnreachable, true},
		`admission webhook "a" denied the request: no`:                                                                   {PodRefused, false},
		`object is being deleted: pods "db-0" already exists`:                                                            {NameInUse, true},
		`pods "a" is forbidden: unable to create new content in namespace n because it is being terminated`:              {NamespaceTerminating, false},
		`etcdserver: request timed out`:                                                                                  {APIServerBusy, true},
		`Pod "a" is invalid: spec.containers[0].image: Required value`:                                                   {PodInvalid, false},
		noRoom: {QuotaExceeded, false},
	} {
		if f := refused(message, "replicaset/web", watchtest.Epoch); f.Code != test.code || f.Passes != test.passes ||
			f.NeedsPerson() == test.passes {
			t.Errorf("%s: %s, passes %t, needs a person %t", message, f.Code, f.Passes, f.NeedsPerson())
		}
	}
}

func TestAdmissionHints(t *testing.T) {
	quota := func(message string) v1.Cause { return v1.Cause{Code: QuotaExceeded, Message: message} }
	refused := func(message string) v1.Cause { return v1.Cause{Code: PodRefused, Message: message} }
	checkHints(t, []hintTest{
		{"a quota of resources", quota(`pods "a" is forbidden: exceeded quota: q, requested: requests.cpu=2,requests.memory=1Gi, used: requests.cpu=3,requests.memory=1Gi, limited: requests.cpu=4,requests.memory=4Gi`), About{}, []string{"Quota q", "requests.cpu: 2 more wanted, 3 of 4 in use", "requests.memory: 1Gi more wanted, 1Gi of 4Gi in use"}},
		{
			"a quota of numbers", quota(noRoom),
			About{Namespace: "shop"},
			[]string{"pods: 1 more wanted, 4 of 4 in use). Delete what", "`kubectl describe quota --namespace shop`"},
		},
		{"a quota of storage", quota(`persistentvolumeclaims "a" is forbidden: exceeded quota: q, requested: fast.storageclass.storage.k8s.io/requests.storage=2Gi, used: fast.storageclass.storage.k8s.io/requests.storage=0, limited: fast.storageclass.storage.k8s.io/requests.storage=1Gi`), About{Blueprint: "dev"}, []string{"2Gi more wanted, 0 of 1Gi in use", `Lower "storages" in blueprint dev`}},
		{
			"a quota of what is not specified",
			quota(`pods "a" is forbidden: failed quota: q: must specify limits.cpu for: app; limits.memory for: app`),
			About{Blueprint: "dev"},
			[]string{"limits.cpu for: app", `"resources" in blueprint dev`},
		},
		{"a controller tries again", quota(noRoom), About{Controlled: true}, []string{"Kubernetes keeps trying."}},
		{"pod security", refused(`pods "a" is forbidden: violates PodSecurity "restricted:latest": runAsNonRoot != true (pod or container "app" must set securityContext.runAsNonRoot=true)`), About{Blueprint: "dev", Namespace: "shop"}, []string{"security level restricted", "Set `securityContext: {allowPrivilegeEscalation: false,", "` in blueprint dev", "`kubectl get namespace shop --show-labels`"}},
		{
			"a webhook", refused(`admission webhook "images.example.com" denied the request: not signed`),
			About{},
			[]string{"Admission webhook images.example.com"},
		},
		{
			"a limit range", refused(`pods "a" is forbidden: maximum memory usage per Container is 64Mi, but limit is 512Mi`),
			About{Blueprint: "dev", Namespace: "shop"},
			[]string{"`kubectl describe limitrange --namespace shop`", `"resources" in blueprint dev`},
		},
		{"a service account", refused(`pods "a" is forbidden: error looking up service account shop/ci: serviceaccount "ci" not found`), About{Namespace: "shop"}, []string{"`kubectl create serviceaccount ci --namespace shop`"}},
		{
			"a priority class", refused(`pods "a" is forbidden: no PriorityClass with name urgent was found`),
			About{},
			[]string{"Priority class urgent"},
		},
		{
			"a webhook that does not answer",
			v1.Cause{
				Code:    WebhookUnreachable,
				Message: `failed calling webhook "w.example.com": failed to call webhook: Post "https://guard.policy.svc:443/x": no endpoints available for service "guard"`,
			},
			About{Controlled: true},
			[]string{"webhook w.example.com", "nothing wrong with the pod", "Service guard", "--namespace policy"},
		},
		{
			"another rule", refused(`pods "a" is forbidden: spec.x`),
			About{},
			[]string{"what the message names in the pod's spec"},
		},
	})
}
