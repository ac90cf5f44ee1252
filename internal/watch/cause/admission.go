package cause

import (
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/pattern"
)

const (
	security pattern.Expr = `violates PodSecurity "([^":]+)`
	webhook  pattern.Expr = `admission webhook "([^"]+)" denied the request`
	bounds   pattern.Expr = `(?:maximum|minimum) .+ usage per (?:Container|Pod) is |max limit to request ratio per`
	account  pattern.Expr = `serviceaccount "([^"]+)" not found`
	runtime  pattern.Expr = `RuntimeClass "([^"]+)" not found`
	priority pattern.Expr = `no PriorityClass with name (\S+) was found`
)

// refusalText says which rule of the cluster refuses a pod, and what helps.
func refusalText(c v1.Cause, a About) string {
	if m := security.FindStringSubmatch(c.Message); m != nil {
		return securityText(m[1], a)
	}
	if m := webhook.FindStringSubmatch(c.Message); m != nil {
		return fmt.Sprintf("Admission webhook %s of the cluster checks every pod and does not accept this one. Its "+
			"message says why: change that in %s, or ask your cluster administrator.",
			m[1], a.spec())
	}
	if bounds.MatchString(c.Message) {
		return fmt.Sprintf("The namespace limits what a container may ask for (`kubectl describe limitrange%s`). "+
			"Change %s.",
			a.option(), a.field(v1.Cause{}, "resources", "resources"))
	}
	if m := account.FindStringSubmatch(c.Message); m != nil {
		return fmt.Sprintf("Service account %s does not exist: create it with `kubectl create serviceaccount %s%s`. "+
			"In a new namespace it may take a moment to come by itself.",
			m[1], m[1], a.option())
	}
	if m := priority.FindStringSubmatch(c.Message); m != nil {
		return fmt.Sprintf("Priority class %s does not exist. Name one that does (`kubectl get priorityclass`) in %s.",
			m[1], a.spec())
	}
	if m := runtime.FindStringSubmatch(c.Message); m != nil {
		return fmt.Sprintf("Runtime class %s does not exist. Name one that does (`kubectl get runtimeclass`) in %s.",
			m[1], a.spec())
	}
	if strings.Contains(c.Message, "security context constraint") {
		return fmt.Sprintf("No security context constraint of the cluster allows such a pod to this service account. "+
			"Change what the message names in %s, or have your cluster administrator allow one.", a.spec())
	}
	return fmt.Sprintf("A rule of the cluster does not allow such a pod. Change what the message names in %s, or ask "+
		"the namespace's administrator.", a.spec())
}

// restricted is what keeps to the strictest level of pod security
// (kubernetes.io/docs/concepts/security/pod-security-standards).
const restricted = "{allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}, runAsNonRoot: true, " +
	"seccompProfile: {type: RuntimeDefault}}"

func securityText(level string, a About) string {
	change := "Change what the message names in " + a.spec()
	if level == "restricted" {
		change = fmt.Sprintf("Set `securityContext: %s` for each container in %s, and runAsUser to a number other "+
			"than 0 where the image runs as root", restricted, a.spec())
	}
	namespace := ""
	if a.Namespace != "" {
		namespace = " " + a.Namespace
	}
	return fmt.Sprintf("The namespace accepts only pods of security level %s (`kubectl get namespace%s "+
		"--show-labels`), and this one is not. %s, or choose another namespace.",
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
		text = name + " answers with a certificate that the API server does not trust, and without it no pod is " +
			"accepted: there is nothing wrong with the pod."
	}
	m := behind.FindStringSubmatch(c.Message)
	switch {
	case m != nil && strings.Contains(c.Message, "x509"):
		return fmt.Sprintf("%s Ask your cluster administrator to renew the certificate of Service %s in namespace %s.",
			text, m[1], m[2])
	case m != nil:
		return fmt.Sprintf("%s See whether Service %s has running pods (`kubectl get pods,endpointslices --namespace "+
			"%s`), or ask your cluster administrator.", text, m[1], m[2])
	}
	return text + " Ask your cluster administrator (`kubectl get " +
		"validatingwebhookconfigurations,mutatingwebhookconfigurations`)."
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
			"Set that in %s if possible, or have a limit range give containers a default (`kubectl describe "+
			"limitrange%s`).",
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
		parts = append(parts, fmt.Sprintf("%s: %s more wanted, %s of %s in use", name, asked[2], used[name],
			limited[name]))
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

// gaveUp says why a job makes no more pods, and where to look.
func gaveUp(c v1.Cause, a About) string {
	redo := "Correct that, delete the job and apply it again."
	name, isJob := strings.CutPrefix(c.Object, "job/")
	switch {
	case !isJob:
		return exitText(c.ExitCode) + " " + a.lastWords(c) + " " + redo
	case strings.HasPrefix(c.Message, batchv1.JobReasonDeadlineExceeded):
		return "The job took longer than activeDeadlineSeconds permits, and its pods were ended. Raise that, or see " +
			"what it waited for; then delete the job and apply it again."
	case strings.HasPrefix(c.Message, batchv1.JobReasonPodFailurePolicy):
		return "A rule of the job's podFailurePolicy ends it at such an exit code, as trying again would not help: " +
			"the program's documentation says what the code means. " + redo
	}
	return fmt.Sprintf("The job has given up after its retries (backoffLimit). `kubectl logs%s --selector "+
		"job-name=%s` shows the logs of its pods, as long as they are there. %s", a.option(), name, redo)
}
