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
	QuotaExceeded = "QuotaExceeded"
	PodRefused    = "PodRefused" // admission, pod security, service account
)

const failedCreate = "FailedCreate"

func admission() []entry {
	return []entry{
		{code: QuotaExceeded, reasons: []string{failedCreate}, person: true, why: quotaText, hint: "{why} {retried}"},
		{code: PodRefused, reasons: []string{failedCreate}, person: true, why: refusalText, hint: "{why} {retried}"},
	}
}

// Refusal is the cause of a pod that the API server did not accept, by its
// message, from a controller or from the client that sent the pod. The object is
// kind/name of the one that was to be created, or of its controller.
func Refusal(message, object string) *v1.Cause {
	code := PodRefused
	if strings.Contains(message, "exceeded quota") || strings.Contains(message, "failed quota") {
		code = QuotaExceeded
	}
	return &v1.Cause{Code: code, Message: message, Object: object}
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
		return refused(e.Message, evidence.ObjectOf(e), evidence.FirstSeen(e))
	}
	return nil
}

// refused is a pod that its controller tries to create again and again. A webhook that
// does not answer may come back.
func refused(message, object string, begun time.Time) *Finding {
	return &Finding{Cause: *Refusal(message, object), Begun: begun, Passes: strings.Contains(message, "failed calling webhook")}
}

var (
	security = regexp.MustCompile(`violates PodSecurity "([^":]+)`)
	webhook  = regexp.MustCompile(`admission webhook "([^"]+)" denied the request`)
	bounds   = regexp.MustCompile(`(?:maximum|minimum) .+ usage per (?:Container|Pod) is |max limit to request ratio per`)
	account  = regexp.MustCompile(`serviceaccount "([^"]+)" not found`)
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
	quota = regexp.MustCompile(`exceeded quota: ([^,]+), requested: (.+), used: (.+), limited: (.+)`)
	// One limit or several: requests.cpu=1,requests.memory=1Gi.
	amount = regexp.MustCompile(`([a-z][a-zA-Z0-9./-]*)=([^,\s]+)`)
	// What a quota counts has to be asked for by every container.
	unsaid = regexp.MustCompile(`failed quota: ([^:]+): must specify (.+)`)
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
