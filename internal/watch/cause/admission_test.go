package cause

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
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

func TestAdmissionHints(t *testing.T) {
	quota := func(message string) v1.Cause { return v1.Cause{Code: QuotaExceeded, Message: message} }
	refused := func(message string) v1.Cause { return v1.Cause{Code: PodRefused, Message: message} }
	checkHints(t, []hintTest{
		{"a quota of resources", quota(`pods "a" is forbidden: exceeded quota: q, requested: requests.cpu=2,requests.memory=1Gi, used: requests.cpu=3,requests.memory=1Gi, limited: requests.cpu=4,requests.memory=4Gi`), About{}, []string{"Quota q", "requests.cpu: 2 more wanted, 3 of 4 in use", "requests.memory: 1Gi more wanted, 1Gi of 4Gi in use"}},
		{"a quota of numbers", quota(noRoom), About{Namespace: "shop"}, []string{"pods: 1 more wanted, 4 of 4 in use). Delete what", "`kubectl describe quota --namespace shop`"}},
		{"a quota of storage", quota(`persistentvolumeclaims "a" is forbidden: exceeded quota: q, requested: fast.storageclass.storage.k8s.io/requests.storage=2Gi, used: fast.storageclass.storage.k8s.io/requests.storage=0, limited: fast.storageclass.storage.k8s.io/requests.storage=1Gi`), About{Blueprint: "dev"}, []string{"2Gi more wanted, 0 of 1Gi in use", `Lower "storages" in blueprint dev`}},
		{"a quota of what is not specified", quota(`pods "a" is forbidden: failed quota: q: must specify limits.cpu for: app; limits.memory for: app`), About{Blueprint: "dev"}, []string{"limits.cpu for: app", `"resources" in blueprint dev`}},
		{"a controller tries again", quota(noRoom), About{Controlled: true}, []string{"Kubernetes keeps trying."}},
		{"pod security", refused(`pods "a" is forbidden: violates PodSecurity "restricted:latest": runAsNonRoot != true (pod or container "app" must set securityContext.runAsNonRoot=true)`), About{Blueprint: "dev", Namespace: "shop"}, []string{"security level restricted", "Set `securityContext: {allowPrivilegeEscalation: false,", "` in blueprint dev", "`kubectl get namespace shop --show-labels`"}},
		{"a webhook", refused(`admission webhook "images.example.com" denied the request: not signed`), About{}, []string{"Admission webhook images.example.com"}},
		{"a limit range", refused(`pods "a" is forbidden: maximum memory usage per Container is 64Mi, but limit is 512Mi`), About{Blueprint: "dev", Namespace: "shop"}, []string{"`kubectl describe limitrange --namespace shop`", `"resources" in blueprint dev`}},
		{"a service account", refused(`pods "a" is forbidden: error looking up service account shop/ci: serviceaccount "ci" not found`), About{Namespace: "shop"}, []string{"`kubectl create serviceaccount ci --namespace shop`"}},
		{"a priority class", refused(`pods "a" is forbidden: no PriorityClass with name urgent was found`), About{}, []string{"Priority class urgent"}},
		{"another rule", refused(`Pod "a" is invalid: spec.x: Invalid value`), About{}, []string{"what the message names in the pod's spec"}},
	})
}
