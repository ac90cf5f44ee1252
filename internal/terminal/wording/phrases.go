package wording

import (
	"fmt"
	"strings"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal/style"
)

// WarningText names the container if the message does not.
func WarningText(w v1.Warning) string {
	if _, container, ok := strings.Cut(w.Object, ":"); ok && !contains(w.Message, container) {
		return container + ": " + w.Message
	}
	return w.Message
}

// CauseText names the container if the message does not.
func CauseText(c v1.Cause) string {
	if c.Container != "" && !contains(c.Message, c.Container) {
		return c.Container + ": " + c.Message
	}
	return c.Message
}

func contains(s, part string) bool { return part != "" && strings.Contains(s, part) }

// ContainerText is a container's state and what makes it worth a look.
func ContainerText(c v1.Container) string {
	text := string(c.State)
	if c.Reason != "" && c.State != v1.ContainerDone && c.State != v1.ContainerReady && !ordinary(c.Reason) {
		text += " " + c.Reason
	}
	if c.ExitCode != nil && *c.ExitCode != 0 {
		text += fmt.Sprintf(", exit code %d", *c.ExitCode)
	}
	if c.Restarts > 0 {
		text += ", " + style.Plural(c.Restarts, "restart")
	}
	return text
}

// ordinary are Kubernetes' words for what the state says already.
func ordinary(reason string) bool {
	switch reason {
	case "PodInitializing", "ContainerCreating", "Completed", "Pulling", "Pulled":
		return true
	}
	return false
}

// ShortImage leaves the registry and the path out: dev-tools:1.4.
func ShortImage(image string) string {
	name := image[strings.LastIndex(image, "/")+1:]
	if base, digest, ok := strings.Cut(name, "@sha256:"); ok {
		return base + "@" + digest[:min(len(digest), 7)]
	}
	return name
}

// DeletionText is what a deletion came to, in a few words.
func DeletionText(d v1.Deletion) string {
	switch {
	case d.NotFound:
		return "it was not there"
	case !d.Gone:
		return style.Plural(d.Objects, "object") + ", the pod may still be ending"
	default:
		return style.Plural(d.Objects, "object")
	}
}

// Known says whether a cause would only repeat what is on the screen.
func Known(cause, message string, shown []v1.Warning) bool {
	for _, w := range shown {
		if contains(w.Message, cause) {
			return true
		}
	}
	return contains(message, cause)
}

// IsPassing tells the stages one goes through from those one ends in: the
// result tells the latter.
func IsPassing(s v1.Snapshot) bool {
	v := s.Verdict()
	return v == v1.VerdictWaiting || v == v1.VerdictTerminating
}

// WarningKey tells warnings apart.
type WarningKey struct{ reason, object, message string }

// KeyOf is the key of a warning.
func KeyOf(w v1.Warning) WarningKey { return WarningKey{w.Reason, w.Object, w.Message} }
