package terminal

import (
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
)

// WarningText names the container if the message does not.
func WarningText(w v1.Warning) string {
	if _, container, ok := strings.Cut(w.Object, ":"); ok && !contains(w.Message, container) {
		return container + ": " + w.Message
	}
	return w.Message
}

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
		text += ", " + Plural(c.Restarts, "restart")
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
		return Plural(d.Objects, "object") + ", the pod may still be ending"
	default:
		return Plural(d.Objects, "object")
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

// StageSums are the stages in the order of their first appearance, each with
// all the time that was spent in it: stages may come back.
func StageSums(t v1.Timing) []v1.StepTiming {
	var sums []v1.StepTiming
	for _, s := range t.Stages {
		i := slices.IndexFunc(sums, func(o v1.StepTiming) bool { return o.Name == s.Name })
		if i < 0 {
			sums = append(sums, s)
		} else {
			sums[i].Seconds += s.Seconds
		}
	}
	return sums
}

// Since is when a workspace that nothing was done to began to run.
func Since(w v1.Workspace, now time.Time) string {
	if w.Since.IsZero() {
		return ""
	}
	return " since " + Age(w.Since, now)
}

// Took is how long a command worked: its own word if its result says so, else
// the time between its first event and its last.
func Took(r v1.Result, between time.Duration) time.Duration {
	if w := r.Workspace; w != nil && w.Timing != nil && w.Timing.Seconds > 0 {
		return Seconds(w.Timing.Seconds)
	}
	if e := r.Error; e != nil && e.Workspace != nil && e.Workspace.Timing != nil && e.Workspace.Timing.Seconds > 0 {
		return Seconds(e.Workspace.Timing.Seconds)
	}
	if d := r.Deletion; d != nil && d.Seconds > 0 {
		return Seconds(d.Seconds)
	}
	return between
}

// WarningKey tells warnings apart.
type WarningKey struct{ reason, object, message string }

// KeyOf is the key of a warning.
func KeyOf(w v1.Warning) WarningKey { return WarningKey{w.Reason, w.Object, w.Message} }
