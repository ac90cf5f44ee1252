package cause

import (
	"fmt"
	"strings"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/pattern"
)

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
