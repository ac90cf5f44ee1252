package cause

import (
	"fmt"
	"regexp"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/watch/evidence"
)

// The causes for which the API server does not accept a pod. It fails where
// nobody tries again; a controller does, so that a workload waits.
const (
	QuotaExceeded = "QuotaExceeded"
	PodRefused    = "PodRefused" // admission, pod security, service account
)

const failedCreate = "FailedCreate"

func admission() []entry {
	return []entry{
		{code: QuotaExceeded, reasons: []string{failedCreate}, why: quotaText, hint: "{why} {retried}"},
		{code: PodRefused, reasons: []string{failedCreate}, why: refusalText, hint: "{why} {retried}"},
	}
}

// Refusal is the cause of a pod that the API server did not accept, by its
// message, from a controller or from whoever sent the pod. The object is
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
			return &Finding{Begun: c.LastTransitionTime.Time, Cause: *Refusal(c.Message, kube.Object("ReplicaSet", rs.Name))}
		}
	}
	return nil
}

// OfController is the same by the events about a controller, for the kinds that
// have no condition for it.
func OfController(events []*corev1.Event) *Finding {
	if e := evidence.Latest(events, failedCreate, "SuccessfulCreate"); e != nil && e.Reason == failedCreate {
		return &Finding{Begun: evidence.FirstSeen(e), Cause: *Refusal(e.Message, evidence.ObjectOf(e))}
	}
	return nil
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
