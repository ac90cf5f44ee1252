package cause

// The causes for which the API server does not accept a pod. A pod of its own
// fails, as nothing tries again; a workload waits, as its controller does.
const (
	QuotaExceeded        = "QuotaExceeded"
	PodRefused           = "PodRefused"           // admission, pod security, service account
	PodInvalid           = "PodInvalid"           // the specification contradicts itself
	WebhookUnreachable   = "WebhookUnreachable"   // what admits pods does not answer
	NamespaceTerminating = "NamespaceTerminating" // takes no more pods
	NameInUse            = "NameInUse"            // the pod of that name is still there
	APIServerBusy        = "APIServerBusy"        // it could not answer
)

const failedCreate = "FailedCreate"

func admission() []entry { return append(refusals(), busyClusters()...) }

// refusals are about the pod.
func refusals() []entry {
	reasons := []string{failedCreate}
	return []entry{
		{
			code: QuotaExceeded, reasons: reasons, person: true, why: quotaText, hint: "{why} {retried}",
			explanation: explanation{
				title:    "The namespace's quota is used up",
				meaning:  "The namespace has a ResourceQuota, and the pod, or a claim, would exceed it. The API server does not accept it until there is room.",
				signs:    []string{"An event FailedCreate with \"exceeded quota\", what was requested, what is used and what is the limit", "`kubectl describe quota`"},
				remedies: []string{"Delete what is not needed.", "Ask for less: resources.requests and resources.limits.", "Have the quota raised.", "With \"must specify limits.cpu\": set it, or have a LimitRange give a default."},
				example:  "collected/b47b-quota-old-serve",
			},
		},
		{
			code: PodRefused, reasons: reasons, person: true, why: refusalText, hint: "{why} {retried}",
			explanation: explanation{
				title:    "A rule of the cluster refuses the pod",
				meaning:  "The API server asks rules of the cluster about each new pod: pod security, webhooks such as those of Kyverno or Gatekeeper, limit ranges, service accounts. One of them says no, so that there is no pod.",
				signs:    []string{"An event FailedCreate at the ReplicaSet, StatefulSet or Job: \"is forbidden\" or \"denied the request\"", "`kubectl get pods` shows none"},
				remedies: []string{"Change in the template what the message names.", "With \"violates PodSecurity\": set the security context that the level asks for.", "Or ask the namespace's administrator for an exception."},
				example:  "collected/o30-statefulset-podsecurity",
			},
		},
		{
			code: PodInvalid, reasons: reasons, person: true,
			hint: "The pod's specification is not valid, whatever the cluster's rules are. Correct the field that the message names in {spec}. {retried}",
			explanation: explanation{
				title:    "The pod's specification is not valid",
				meaning:  "The template of the workload was accepted, but what is made of it is not a valid pod: often since a default or a webhook adds something, such as a limit below a request.",
				signs:    []string{"An event FailedCreate: \"Pod … is invalid: spec.…\""},
				remedies: []string{"Correct the field in the workload's template.", "See what adds to it: a LimitRange (`kubectl describe limitrange`), a webhook that injects a container."},
				example:  "collected/o35-invalid-pod",
			},
		},
	}
}

// busyClusters are about the cluster: the same pod is accepted at another time.
func busyClusters() []entry {
	reasons := []string{failedCreate}
	return []entry{
		{
			code: WebhookUnreachable, reasons: reasons, why: webhookText, hint: "{why} {retried}",
			explanation: explanation{
				title:    "An admission webhook does not answer",
				meaning:  "The API server has to ask a webhook about each new pod, but does not reach it: its program is down, or its certificate is not valid. Because of failurePolicy: Fail, no pod is accepted without its answer. The pod itself does not violate a rule.",
				signs:    []string{"An event FailedCreate: \"failed calling webhook …: connection refused\", \"no endpoints available for service\" or \"context deadline exceeded\""},
				remedies: []string{"See whether the pods behind the webhook's Service run.", "With x509: its certificate has expired, or caBundle is another one.", "If the program was removed, remove its webhook configuration, too: `kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations`."},
				passes:   "When the webhook answers again.",
				example:  "collected/o32-webhook-down",
			},
		},
		{
			code: NamespaceTerminating, reasons: reasons, person: true,
			hint: "The namespace is being deleted and takes nothing new. Use another one, or create it again when it is gone (`kubectl get namespace`).",
			explanation: explanation{
				title:    "The namespace is being deleted",
				meaning:  "Somebody has deleted the namespace. Until all in it is gone, nothing can be created in it.",
				signs:    []string{"`kubectl get namespace`: Terminating", "An event FailedCreate: \"because it is being terminated\""},
				remedies: []string{"Use another namespace, or create it again when it is gone.", "If it does not go, its status says which objects are left: `kubectl get namespace NAME -o yaml`."},
				example:  "admission/namespace-terminating",
			},
		},
		{
			code: NameInUse, reasons: reasons,
			hint: "The pod of that name, from before, is still there or ending. It passes when that is gone; {retried} If it does not end, look at it: `kubectl get pods{ns}`.",
			explanation: explanation{
				title:    "The pod of that name has not ended yet",
				meaning:  "Pods of a StatefulSet keep their names. The next one is made when the one before is gone, which takes its grace period.",
				signs:    []string{"An event FailedCreate: \"object is being deleted: pods … already exists\""},
				remedies: []string{"Wait for the grace period.", "If it does not end, see whether its node still answers, and whether it has finalizers."},
				passes:   "When the pod before is gone.",
				example:  "admission/being-deleted",
			},
		},
		{
			code: APIServerBusy, reasons: reasons,
			hint: "The API server could not answer in time: that is not about the pod. {retried} If this lasts, ask your cluster administrator.",
			explanation: explanation{
				title:    "The API server could not answer",
				meaning:  "The API server, or its storage, was too busy or just restarting when the pod was to be created.",
				signs:    []string{"An event FailedCreate: \"etcdserver: request timed out\", \"the server is currently unable to handle the request\""},
				remedies: []string{"Wait: controllers try again.", "If it lasts, look at the control plane."},
				passes:   "When the API server has caught up.",
				example:  "admission/etcd-timeout",
			},
		},
	}
}
