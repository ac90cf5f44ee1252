package cause

import (
	"cmp"
	"strings"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/watch/cause/catalog"
)

// Hint says what a cause means and what to do about it. Empty if there is nothing
// to say.
func Hint(c *v1.Cause, a About) string {
	if c == nil {
		return ""
	}
	why := ""
	if says, ok := whys()[c.Code]; ok {
		why = says(*c, a)
	}
	hint := catalog.Lookup(c.Code).Hint
	if a.isWorkspace() && strings.Contains(hint, "{bring-back}") { // what brings it back comes first
		hint = "{bring-back} " + strings.Replace(hint, "{bring-back}", "", 1)
	}
	text := a.fill(hint, *c, "{why}", why, "{advice}", a.advice(c.Code, *c))
	return strings.Join(strings.Fields(text), " ")
}

// advice is what the catalogue says of a case of a cause, by its message; empty if it has nothing to say.
func (a About) advice(code string, c v1.Cause) string {
	for _, known := range catalog.Lookup(code).Advice {
		if known.Claim && !a.Claimed {
			continue
		}
		if m := known.Words.FindStringSubmatch(c.Message); m != nil {
			return a.fill(known.Text, c, "{1}", m[min(1, len(m)-1)], "{2}", a.where(m))
		}
	}
	return ""
}

// where is the namespace that a message names last, or that of the pod.
func (a About) where(m []string) string {
	if len(m) > 2 && m[2] != "" {
		return m[2]
	}
	return cmp.Or(a.Namespace, "NAMESPACE")
}

// claimOf is the claim that a cause is about as kubectl takes it: pvc data.
func claimOf(c v1.Cause) string {
	if _, name, of := strings.Cut(c.Object, kube.Object("PersistentVolumeClaim", "")); of {
		return "pvc " + name
	}
	return "pvc"
}

// claimCheck is how to see what the storage has done, but for what is known.
func (a About) claimCheck() string {
	if a.Bound {
		return "Its claim is bound: see whether it is attached (`kubectl get volumeattachments`);"
	}
	return "See whether its claim is bound (`kubectl get pvc" + a.option() + "`) and attached (`kubectl get " +
		"volumeattachments`);"
}

// fill puts what is known of a case in the place of the placeholders of a text.
func (a About) fill(text string, c v1.Cause, more ...string) string {
	return strings.NewReplacer(append(more,
		"{spec}", a.spec(),
		"{image-field}", a.imageOf(c),
		"{memory-field}", a.field(c, "resources.memory", "resources.limits.memory"),
		"{requests-field}", a.field(v1.Cause{}, "resources", "resources.requests"),
		"{again}", a.again(),
		"{updated}", a.updated(),
		"{class}", class(c, a),
		"{retried}", a.retried(),
		"{bring-back}", a.bringBack(),
		"{name}", c.Object[strings.Index(c.Object, "/")+1:],
		"{ns}", a.option(),
		"{node}", cmp.Or(a.Node, "NODE"),
		"{on-node}", either(a.Node != "", "node "+a.Node, "the node"),
		"{pvc}", claimOf(c),
		"{claim-check}", a.claimCheck(),
		"{container}", either(c.Container != "", "Container "+c.Container, "The container"),
		"{image}", either(a.Image != "", a.Image, "the image"),
		"{probe}", a.asked(),
		"{last-words}", a.lastWords(c),
	)...).Replace(text)
}

// whys are, by code, what {why} in a hint says of the case.
func whys() map[string]func(v1.Cause, About) string {
	return map[string]func(v1.Cause, About) string{
		ImagePullDenied:     login,
		RegistryUntrusted:   distrust,
		ProviderFailed:      providerText,
		ConfigMissing:       missing,
		CommandNotFound:     command,
		InitFailed:          ended,
		OutOfMemory:         outOfMemory,
		CrashLoop:           probed,
		ContainerExited:     ended,
		SlowStart:           silentStart,
		Unschedulable:       placementText,
		SchedulerSilent:     silenceText,
		Preempted:           morePriority,
		NodeAffinity:        misfit,
		DeadlineExceeded:    tooLong,
		NodeLost:            elsewhere,
		NodeNotReady:        elsewhere,
		StorageClassMissing: missingClass,
		VolumeMissingObject: missing,
		QuotaExceeded:       quotaText,
		PodRefused:          refusalText,
		WebhookUnreachable:  webhookText,
		JobFailed:           gaveUp,
	}
}

func either(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}
