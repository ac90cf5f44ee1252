package cause

import (
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
)

const noRoom = `pods "a" is forbidden: exceeded quota: q, requested: pods=1, used: pods=4, limited: pods=4`

func TestAdmissionHints(t *testing.T) {
	quota := func(message string) v1.Cause { return v1.Cause{Code: QuotaExceeded, Message: message} }
	refused := func(message string) v1.Cause { return v1.Cause{Code: PodRefused, Message: message} }
	checkHints(t, []hintTest{
		{"a quota of resources", quota(`pods "a" is forbidden: exceeded quota: q, requested: ` +
			`requests.cpu=2,requests.memory=1Gi, used: requests.cpu=3,requests.memory=1Gi, limited: ` +
			`requests.cpu=4,requests.memory=4Gi`), About{}, []string{
			"Quota q",
			"requests.cpu: 2 more wanted, 3 of 4 in use", "requests.memory: 1Gi more wanted, 1Gi of 4Gi in use",
		}},
		{
			"a quota of numbers", quota(noRoom),
			About{Namespace: "shop"},
			[]string{"pods: 1 more wanted, 4 of 4 in use). Delete what", "`kubectl describe quota --namespace shop`"},
		},
		{
			"a quota of storage", quota(`persistentvolumeclaims "a" is forbidden: exceeded quota: q, requested: ` +
				`fast.storageclass.storage.k8s.io/requests.storage=2Gi, used: ` +
				`fast.storageclass.storage.k8s.io/requests.storage=0, limited: ` +
				`fast.storageclass.storage.k8s.io/requests.storage=1Gi`),
			About{Blueprint: "dev"},
			[]string{"2Gi more wanted, 0 of 1Gi in use", `Lower "storages" in blueprint dev`},
		},
		{
			"a quota of what is not specified",
			quota(`pods "a" is forbidden: failed quota: q: must specify limits.cpu for: app; limits.memory for: app`),
			About{Blueprint: "dev"},
			[]string{"limits.cpu for: app", `"resources" in blueprint dev`},
		},
		{"a controller tries again", quota(noRoom), About{Controlled: true}, []string{"Kubernetes keeps trying."}},
		{
			"pod security",
			refused(`pods "a" is forbidden: violates PodSecurity "restricted:latest": runAsNonRoot != ` +
				`true (pod or container "app" must set securityContext.runAsNonRoot=true)`),
			About{Blueprint: "dev", Namespace: "shop"},
			[]string{
				"security level restricted",
				"Set `securityContext: {allowPrivilegeEscalation: false,",
				"` for each container in blueprint dev, and runAsUser",
				"`kubectl get namespace shop --show-labels`",
			},
		},
		{
			"a webhook", refused(`admission webhook "images.example.com" denied the request: not signed`),
			About{},
			[]string{"Admission webhook images.example.com"},
		},
		{
			"a limit range", refused(`pods "a" is forbidden: maximum memory usage per Container is 64Mi, ` +
				`but limit is 512Mi`),
			About{Blueprint: "dev", Namespace: "shop"},
			[]string{"`kubectl describe limitrange --namespace shop`", `"resources" in blueprint dev`},
		},
		{
			"a service account", refused(`pods "a" is forbidden: error looking up service account shop/ci: ` +
				`serviceaccount "ci" not found`),
			About{Namespace: "shop"},
			[]string{"`kubectl create serviceaccount ci --namespace shop`"},
		},
		{
			"a priority class", refused(`pods "a" is forbidden: no PriorityClass with name urgent was found`),
			About{},
			[]string{"Priority class urgent"},
		},
		{
			"a webhook that does not answer",
			v1.Cause{
				Code: WebhookUnreachable,
				Message: `failed calling webhook "w.example.com": failed to call webhook: Post ` +
					`"https://guard.policy.svc:443/x": no endpoints available for service "guard"`,
			},
			About{Controlled: true},
			[]string{
				"w.example.com of the cluster does not answer", "nothing wrong with the pod", "Service guard",
				"--namespace policy",
			},
		},
		{
			"a webhook that is not trusted",
			v1.Cause{
				Code: WebhookUnreachable,
				Message: `failed calling webhook "w.example.com": failed to call webhook: Post ` +
					`"https://guard.policy.svc:443/x": tls: failed to verify certificate: x509: certificate ` +
					`has expired`,
			},
			About{},
			[]string{"a certificate that the API server does not trust", "renew the certificate of Service guard"},
		},
		{
			"another rule", refused(`pods "a" is forbidden: spec.x`),
			About{},
			[]string{"what the message names in the pod's spec"},
		},
	})
}

func TestRolloutHints(t *testing.T) {
	checkHints(t, []hintTest{
		{"a job", v1.Cause{Code: JobFailed, Object: "job/backup"}, About{}, []string{"job-name=backup"}},
		{
			"a deadline",
			v1.Cause{Code: ProgressDeadline, Object: "deployment/web"},
			About{Namespace: "shop"},
			[]string{"kubectl rollout undo deployment/web --namespace shop"},
		},
	})
}
