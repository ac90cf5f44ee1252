package cause

import (
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/pattern"
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
	case has("etcdserver:"), has("the server is currently unable"),
		has("the server was unable to return a response in the time"),
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

const (
	security pattern.Expr = `violates PodSecurity "([^":]+)`
	webhook  pattern.Expr = `admission webhook "([^"]+)" denied the request`
	bounds   pattern.Expr = `(?:maximum|minimum) .+ usage per (?:Container|Pod) is |max limit to request ratio per`
	account  pattern.Expr = `serviceaccount "([^"]+)" not found`
	runtime  pattern.Expr = `RuntimeClass "([^"]+)" not found`
	invalid  pattern.Expr = `\bis invalid: `
	priority pattern.Expr = `no PriorityClass with name (\S+) was found`
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
		return fmt.Sprintf("Priority class %s does not exist. Name one that does (`kubectl get priorityclass`) in %s.",
			m[1], a.spec())
	}
	if m := runtime.FindStringSubmatch(c.Message); m != nil {
		return fmt.Sprintf("Runtime class %s does not exist. Name one that does (`kubectl get runtimeclass`) in %s.", m[1],
			a.spec())
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

const (
	calling pattern.Expr = `failed calling webhook "([^"]+)"`
	behind  pattern.Expr = `https?://([a-z0-9-]+)\.([a-z0-9-]+)\.svc`
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

const (
	quota pattern.Expr = `exceeded quota: ([^,]+), requested: (.+), used: (.+), limited: (.+)`
	// One limit or several: requests.cpu=1,requests.memory=1Gi.
	amount pattern.Expr = `([a-z][a-zA-Z0-9./-]*)=([^,\s]+)`
	// What a quota counts has to be asked for by every container.
	unsaid pattern.Expr = `failed quota: ([^:]+): must specify (.+)`
)

// quotaText puts the numbers of a quota's refusal in order, and says what helps.
func quotaText(c v1.Cause, a About) string {
	resources := func(ofPod string) string { return a.field(v1.Cause{}, "resources", ofPod) }
	raise := "have the quota raised (`kubectl describe quota" + a.option() + "`)."
	if m := unsaid.FindStringSubmatch(c.Message); m != nil {
		// A blueprint has no field for each of them, such as a limit of CPU.
		return fmt.Sprintf("Quota %s of the namespace counts what the pod does not specify: %s. "+
			"Set that in %s if possible, or have a limit range give containers a default (`kubectl describe limitrange%s`).",
			m[1], m[2], resources("resources"), a.option())
	}
	m := quota.FindStringSubmatch(c.Message)
	if m == nil {
		return "The namespace's quota does not allow it. Lower " + resources("resources") + ", or " + raise
	}
	used, limited := amounts(m[3]), amounts(m[4])
	var parts []string
	lower := ""
	for _, asked := range amount.FindAllStringSubmatch(m[2], -1) {
		name := asked[1]
		parts = append(parts, fmt.Sprintf("%s: %s more wanted, %s of %s in use", name, asked[2], used[name], limited[name]))
		switch {
		case strings.HasSuffix(name, "requests.storage"):
			lower = "Lower " + a.field(v1.Cause{}, "storages", "resources.requests.storage") + ", delete"
		case isResource(name):
			lower = "Lower " + resources("resources") + ", delete"
		}
	}
	if lower == "" { // a number of objects
		lower = "Delete"
	}
	return fmt.Sprintf("Quota %s of the namespace is used up (%s). %s what is not needed, or %s", m[1],
		strings.Join(parts, "; "), lower, raise)
}

func amounts(list string) map[string]string {
	found := map[string]string{}
	for _, a := range amount.FindAllStringSubmatch(list, -1) {
		found[a[1]] = a[2]
	}
	return found
}

// isResource is true for what a container asks for, not for a number of objects.
func isResource(counted string) bool {
	name := strings.TrimPrefix(strings.TrimPrefix(counted, "requests."), "limits.")
	return name != counted || name == "cpu" || name == "memory" || name == "ephemeral-storage"
}
