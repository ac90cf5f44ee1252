package cause

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/watch/evidence"
)

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

func admission() []entry {
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
		{
			code: WebhookUnreachable, reasons: reasons, why: webhookText, hint: "{why} {retried}",
			explanation: explanation{
				title:    "An admission webhook does not answer",
				meaning:  "The API server has to ask a webhook about each new pod, and gets no answer: the program behind it is down, or its certificate is not valid. The webhook is configured so that nothing is accepted without it (failurePolicy: Fail). It is no rule that the pod breaks.",
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
		return QuotaExceeded
	case has("failed calling webhook"):
		return WebhookUnreachable
	case has("because it is being terminated"):
		return NamespaceTerminating
	case has("object is being deleted"), has("already exists"):
		return NameInUse
	case has("etcdserver:"), has("the server is currently unable"), has("the server was unable to return a response in the time"),
		has("Timeout: request did not complete"), has("too many requests"):
		return APIServerBusy
	case invalid.MatchString(message):
		return PodInvalid
	}
	return PodRefused
}

// passesByItself are the refusals that are not about the pod.
func passesByItself(code string) bool {
	return code == WebhookUnreachable || code == NameInUse || code == APIServerBusy
}

// OfReplicaSet is why a ReplicaSet has fewer pods than it wants; nil if the API
// server accepts them.
func OfReplicaSet(rs *appsv1.ReplicaSet) *Finding {
	for _, c := range rs.Status.Conditions {
		if c.Type == appsv1.ReplicaSetReplicaFailure && c.Status == corev1.ConditionTrue {
			return refused(c.Message, kube.Object("ReplicaSet", rs.Name), c.LastTransitionTime.Time)
		}
	}
	return nil
}

// OfController is the same by the events about a controller, for the kinds that
// have no condition for it.
func OfController(events []*corev1.Event) *Finding {
	if e := evidence.Latest(events, failedCreate, "SuccessfulCreate"); e != nil && e.Reason == failedCreate {
		return refused(evidence.Text(e), evidence.ObjectOf(e), evidence.FirstSeen(e))
	}
	return nil
}

// refused is a pod that its controller tries to create again and again.
func refused(message, object string, begun time.Time) *Finding {
	c := Refusal(message, object)
	return &Finding{Cause: *c, Begun: begun, Passes: passesByItself(c.Code)}
}

var (
	security = regexp.MustCompile(`violates PodSecurity "([^":]+)`)
	webhook  = regexp.MustCompile(`admission webhook "([^"]+)" denied the request`)
	bounds   = regexp.MustCompile(`(?:maximum|minimum) .+ usage per (?:Container|Pod) is |max limit to request ratio per`)
	account  = regexp.MustCompile(`serviceaccount "([^"]+)" not found`)
	runtime  = regexp.MustCompile(`RuntimeClass "([^"]+)" not found`)
	invalid  = regexp.MustCompile(`\bis invalid: `)
	priority = regexp.MustCompile(`no PriorityClass with name (\S+) was found`)
)

// refusalText says which rule of the cluster refuses a pod, and what helps.
func refusalText(c v1.Cause, a About) string {
	if m := security.FindStringSubmatch(c.Message); m != nil {
		return securityText(m[1], a)
	}
	if m := webhook.FindStringSubmatch(c.Message); m != nil {
		return fmt.Sprintf("Admission webhook %s of the cluster checks every pod and does not accept this one. Its message says why: change that in %s, or ask your cluster administrator.",
			m[1], a.spec())
	}
	if bounds.MatchString(c.Message) {
		return fmt.Sprintf("The namespace limits what a container may ask for (`kubectl describe limitrange%s`). Change %s.",
			a.option(), a.field(v1.Cause{}, "resources", "resources"))
	}
	if m := account.FindStringSubmatch(c.Message); m != nil {
		return fmt.Sprintf("Service account %s does not exist: create it with `kubectl create serviceaccount %s%s`. In a new namespace it may take a moment to come by itself.",
			m[1], m[1], a.option())
	}
	if m := priority.FindStringSubmatch(c.Message); m != nil {
		return fmt.Sprintf("Priority class %s does not exist. Name one that does (`kubectl get priorityclass`) in %s.", m[1], a.spec())
	}
	if m := runtime.FindStringSubmatch(c.Message); m != nil {
		return fmt.Sprintf("Runtime class %s does not exist. Name one that does (`kubectl get runtimeclass`) in %s.", m[1], a.spec())
	}
	if strings.Contains(c.Message, "security context constraint") {
		return fmt.Sprintf("No security context constraint of the cluster allows such a pod to this service account. Change what the message names in %s, or have your cluster administrator allow one.", a.spec())
	}
	return fmt.Sprintf("A rule of the cluster does not allow such a pod. Change what the message names in %s, or ask the namespace's administrator.", a.spec())
}

// restricted is what keeps to the strictest level of pod security
// (kubernetes.io/docs/concepts/security/pod-security-standards).
const restricted = "{allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}, runAsNonRoot: true, runAsUser: 1000, seccompProfile: {type: RuntimeDefault}}"

func securityText(level string, a About) string {
	change := "Change what the message names in " + a.spec()
	if level == "restricted" {
		change = fmt.Sprintf("Set `securityContext: %s` in %s", restricted, a.spec())
	}
	namespace := ""
	if a.Namespace != "" {
		namespace = " " + a.Namespace
	}
	return fmt.Sprintf("The namespace accepts only pods of security level %s (`kubectl get namespace%s --show-labels`), and this one is not. %s, or choose another namespace.",
		level, namespace, change)
}

var (
	calling = regexp.MustCompile(`failed calling webhook "([^"]+)"`)
	behind  = regexp.MustCompile(`https?://([a-z0-9-]+)\.([a-z0-9-]+)\.svc`)
)

// webhookText names the webhook that does not answer, and where it should run.
func webhookText(c v1.Cause, _ About) string {
	name := "An admission webhook of the cluster"
	if m := calling.FindStringSubmatch(c.Message); m != nil {
		name = "Admission webhook " + m[1] + " of the cluster"
	}
	text := name + " does not answer, and without it no pod is accepted: there is nothing wrong with the pod."
	if strings.Contains(c.Message, "x509") {
		text = name + " answers with a certificate that the API server does not trust, and without it no pod is accepted: there is nothing wrong with the pod."
	}
	if m := behind.FindStringSubmatch(c.Message); m != nil {
		return fmt.Sprintf("%s See whether Service %s has running pods (`kubectl get pods,endpointslices --namespace %s`), or ask your cluster administrator.", text, m[1], m[2])
	}
	return text + " Ask your cluster administrator (`kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations`)."
}
