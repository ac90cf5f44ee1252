package cause

import (
	"cmp"
	"fmt"
	"strings"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
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

// memory says what a container used too much of. That it has no limit is said only where its pod
// was read.
func (a About) memory(c v1.Cause) string {
	limit := a.Memory
	if _, read, ok := strings.Cut(c.Message, limitIs); ok && limit == "" {
		limit, _, _ = strings.Cut(read, ";")
	}
	switch {
	case limit != "":
		return "more memory than its limit of " + limit
	case strings.Contains(c.Message, noLimit):
		return "more memory than the node could give it"
	}
	return "more memory than it could get"
}

func either(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}

// spec says where to make a change.
func (a About) spec() string {
	switch {
	case a.Bundle:
		return "the bundle or its values"
	case !a.isWorkspace():
		return "the pod's spec"
	case a.Blueprint == "":
		return "its blueprint"
	case a.Origin == "" || strings.HasPrefix(a.Origin, "built in"):
		return "blueprint " + a.Blueprint
	}
	return fmt.Sprintf("blueprint %s (%s)", a.Blueprint, a.Origin)
}

// field names a field of the blueprint, or the one of the pod that it is; of the
// container, where the cause is about one.
func (a About) field(c v1.Cause, ofBlueprint, ofPod string) string {
	switch flag := a.setBy(ofBlueprint); {
	case flag != "":
		return fmt.Sprintf("%q, which %s gave", ofBlueprint, flag)
	case a.isWorkspace() && a.Set == nil:
		return fmt.Sprintf("%q in %s (or the flag that gave it)", ofBlueprint, a.spec())
	case a.isWorkspace():
		return fmt.Sprintf("%q in %s", ofBlueprint, a.spec())
	case c.Container != "":
		return fmt.Sprintf("%q of container %s in %s", ofPod, c.Container, a.spec())
	}
	return fmt.Sprintf("%q in %s", ofPod, a.spec())
}

// setBy is the flag that has set a field of the blueprint, or something in it; empty if none has.
func (a About) setBy(field string) string {
	for path, flag := range a.Set {
		if path == field || strings.HasPrefix(path, field+".") || strings.HasPrefix(field, path+".") {
			return flag
		}
	}
	return ""
}

// imageField is the field of a blueprint that has the image of a container; in a
// workload, the workspace's ID is in front of its name.
func imageField(container string) string {
	for name, field := range map[string]string{
		"init-base": "k8shelld.image", "init-repository": "helperImage", "init-storage": "helperImage",
		"k8shell-podman": "podman.image",
	} {
		if container == name || strings.HasSuffix(container, "-"+name) {
			return field
		}
	}
	return "image"
}

// again is how a change takes effect.
func (a About) again() string {
	switch {
	case a.isWorkspace():
		return "Then " + a.Provision() + "."
	case a.Bundle:
		return "Then install the bundle again."
	case a.Job:
		return "Then delete the job and apply it again."
	case a.Controlled:
		return "Then apply again what the pod is made from."
	}
	return "Then delete the pod and create it again."
}

// updated is how a change takes effect for a pod that still waits: to provision the workspace
// again follows the pod as it is.
func (a About) updated() string {
	if a.Blueprint == "" || a.UserString == "" {
		return a.again()
	}
	return "Then run `" + fault.Command("berth", "update", a.UserString) + a.option() + "`."
}

// retried names what creates a pod that was refused, once it is accepted.
func (a About) retried() string {
	if a.Controlled {
		return "Kubernetes keeps trying."
	}
	return a.again()
}

// bringBack is what to do about a pod that is over, without any change.
func (a About) bringBack() string {
	switch {
	case a.isWorkspace():
		return a.back()
	case a.Controlled:
		return "Its controller makes another one."
	}
	return "If it is still needed, create it again."
}

// back is what brings a workspace back whose pod is over.
func (a About) back() string {
	if a.UserString == "" {
		return "Start it again: any storage it has is kept."
	}
	return "Bring it back, any storage it has is kept: `" + fault.Command("berth", "start", a.UserString) + a.option() +
		"`."
}

// Provision is the command that brings the workspace up again, as a part of a
// sentence.
func (a About) Provision() string {
	if a.UserString == "" {
		return "provision again"
	}
	return "run `" + fault.Command("berth", cmp.Or(a.Verb, "provision"), a.UserString) + a.option() + "` again"
}

// option is the namespace as an option, of kubectl and berth.
func (a About) option() string {
	if a.Namespace == "" {
		return ""
	}
	return " --namespace " + a.Namespace
}

// lastWords is how to see what a container has logged last.
func (a About) lastWords(c v1.Cause) string {
	pod, ok := strings.CutPrefix(c.Object, "pod/")
	if !ok || c.Container == "" {
		return "Its log says why."
	}
	previous := ""
	if c.Restarts != nil && *c.Restarts > 0 {
		previous = " --previous"
	}
	show := fault.Command("kubectl", "logs", pod)
	if a.UserString != "" {
		show = fault.Command("berth", "logs", a.UserString)
	}
	return fmt.Sprintf("Its log says why (`%s --container %s%s%s`).", show, c.Container, a.option(), previous)
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
