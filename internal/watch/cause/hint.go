package cause

import (
	"strings"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/pattern"
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
	text := strings.NewReplacer(
		"{why}", why,
		"{spec}", a.spec(),
		"{image-field}", a.field(*c, imageField(c.Container), "image"),
		"{memory-field}", a.field(*c, "resources.memory", "resources.limits.memory"),
		"{requests-field}", a.field(v1.Cause{}, "resources", "resources.requests"),
		"{again}", a.again(),
		"{updated}", a.updated(),
		"{retried}", a.retried(),
		"{bring-back}", a.bringBack(),
		"{name}", c.Object[strings.Index(c.Object, "/")+1:],
		"{ns}", a.option(),
		"{container}", either(c.Container != "", "Container "+c.Container, "The container"),
		"{limit}", a.memory(*c),
		"{image}", either(a.Image != "", a.Image, "the image"),
		"{last-words}", a.lastWords(*c),
	).Replace(hint)
	return strings.Join(strings.Fields(text), " ")
}

// whys are, by code, what {why} in a hint says of the case.
func whys() map[string]func(v1.Cause, About) string {
	return map[string]func(v1.Cause, About) string{
		ImagePullDenied:     login,
		RegistryUntrusted:   distrust,
		ConfigMissing:       missing,
		CommandNotFound:     command,
		StartFailed:         refusedStart,
		InitFailed:          ended,
		CrashLoop:           probed,
		ContainerExited:     ended,
		ProbeFailed:         answer,
		SlowStart:           silentStart,
		Unschedulable:       placementText,
		SchedulerSilent:     silenceText,
		SandboxFailed:       sandboxText,
		Preempted:           morePriority,
		NodeAffinity:        misfit,
		DeadlineExceeded:    tooLong,
		NodeLost:            elsewhere,
		NodeNotReady:        elsewhere,
		VolumeUnbound:       class,
		VolumePending:       provisioningText,
		StorageClassMissing: missingClass,
		VolumeMissingObject: missing,
		VolumeNotMounted:    mountText,
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

// advice is what to say of a message that has these words.
type advice struct {
	words pattern.Expr
	text  string
}

// advise gives the first advice that fits a message; otherwise, if none does.
func advise(message string, all []advice, otherwise string) string {
	for _, known := range all {
		if known.words.MatchString(message) {
			return known.text
		}
	}
	return otherwise
}
