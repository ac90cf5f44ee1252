package diagnose

import (
	"fmt"
	"regexp"
	"strings"
)

var (
	quota = regexp.MustCompile(`exceeded quota: ([^,]+), requested: (.+), used: (.+), limited: (.+)`)
	// One limit or several: requests.cpu=1,requests.memory=1Gi.
	amount = regexp.MustCompile(`([a-z][a-zA-Z0-9./-]*)=([^,\s]+)`)
	// What a quota counts has to be asked for by every container.
	unsaid = regexp.MustCompile(`failed quota: ([^:]+): must specify (.+)`)

	security = regexp.MustCompile(`violates PodSecurity "([^":]+)`)
	webhook  = regexp.MustCompile(`admission webhook "([^"]+)" denied the request`)
	bounds   = regexp.MustCompile(`(?:maximum|minimum) .+ usage per (?:Container|Pod) is |max limit to request ratio per`)
	account  = regexp.MustCompile(`serviceaccount "([^"]+)" not found`)
	priority = regexp.MustCompile(`no PriorityClass with name (\S+) was found`)
)

// quotaText puts the numbers of a quota's refusal in order, and says what helps.
func quotaText(message string, about About) string {
	raise := "have the quota raised (`kubectl describe quota" + about.option() + "`)."
	if m := unsaid.FindStringSubmatch(message); m != nil {
		// A blueprint has no field for each of them, such as a limit of CPU.
		return fmt.Sprintf("Quota %s of the namespace counts what the pod does not say that it needs: %s. "+
			"Set that in %s if it can be, or have a limit range give containers a default (`kubectl describe limitrange%s`).",
			m[1], m[2], about.field(nil, "resources", "resources"), about.option())
	}
	m := quota.FindStringSubmatch(message)
	if m == nil {
		return "The namespace's quota does not allow it. Lower " + about.field(nil, "resources", "resources") + ", or " + raise
	}
	used, limited := amounts(m[3]), amounts(m[4])
	var parts []string
	lower := ""
	for _, a := range amount.FindAllStringSubmatch(m[2], -1) {
		parts = append(parts, fmt.Sprintf("%s: %s more wanted, %s of %s in use", a[1], a[2], used[a[1]], limited[a[1]]))
		switch {
		case strings.HasSuffix(a[1], "requests.storage"):
			lower = "Lower " + about.field(nil, "storages", "resources.requests.storage") + ", delete"
		case isResource(a[1]):
			lower = "Lower " + about.field(nil, "resources", "resources") + ", delete"
		}
	}
	if lower == "" { // a number of objects
		lower = "Delete"
	}
	return fmt.Sprintf("Quota %s of the namespace is used up (%s). %s what is not needed, or %s", m[1], strings.Join(parts, "; "), lower, raise)
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

// refusedText says which rule of the cluster refuses a pod, and what helps.
func refusedText(message string, about About) string {
	if m := security.FindStringSubmatch(message); m != nil {
		return securityText(m[1], about)
	}
	if m := webhook.FindStringSubmatch(message); m != nil {
		return fmt.Sprintf("Admission webhook %s of the cluster checks every pod and does not take this one. Its message says why: change that in %s, or talk to who administers the cluster.",
			m[1], about.spec())
	}
	if bounds.MatchString(message) {
		return fmt.Sprintf("The namespace has bounds for what a container may ask for (`kubectl describe limitrange%s`). Change %s.",
			about.option(), about.field(nil, "resources", "resources"))
	}
	if m := account.FindStringSubmatch(message); m != nil {
		return fmt.Sprintf("Service account %s does not exist: create it with `kubectl create serviceaccount %s%s`. In a new namespace it may take a moment to come by itself.",
			m[1], m[1], about.option())
	}
	if m := priority.FindStringSubmatch(message); m != nil {
		return fmt.Sprintf("Priority class %s does not exist. Name one that does (`kubectl get priorityclass`) in %s.", m[1], about.spec())
	}
	return fmt.Sprintf("A rule of the cluster does not allow such a pod. Change what the message names in %s, or talk to who administers the namespace.", about.spec())
}

// restricted is what keeps to the strictest level of pod security
// (kubernetes.io/docs/concepts/security/pod-security-standards).
const restricted = "{allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}, runAsNonRoot: true, runAsUser: 1000, seccompProfile: {type: RuntimeDefault}}"

func securityText(level string, about About) string {
	change := "Change what the message names in " + about.spec()
	if level == "restricted" {
		change = fmt.Sprintf("Set `securityContext: %s` in %s", restricted, about.spec())
	}
	namespace := ""
	if about.Namespace != "" {
		namespace = " " + about.Namespace
	}
	return fmt.Sprintf("The namespace takes only pods of security level %s (`kubectl get namespace%s --show-labels`), and this one is not. %s, or choose another namespace.",
		level, namespace, change)
}
