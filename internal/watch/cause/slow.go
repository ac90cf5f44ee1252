package cause

import (
	"slices"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/watch/evidence"
)

// The causes of what has gone on for long while nothing says why. They fail nothing: it
// may be work.
const (
	SlowInit  = "SlowInit"  // an init container that runs
	SlowPull  = "SlowPull"  // an image that is being pulled
	SlowStart = "SlowStart" // a container that runs and is not ready
)

// longAfter is how long something goes on before it is worth a word.
const longAfter = 5 * time.Minute

// OfSilent is what the pod has been doing since a time without a word about why it takes
// long; nil if nothing is. It is for the caller to say how long it may.
func OfSilent(p evidence.Pod) *Finding {
	for _, c := range p.Containers {
		running := c.Status.State.Running
		switch {
		case c.IsReady() || running == nil || c.Init && c.IsInitialized():
			continue
		case c.Init && !c.Sidecar:
			f := of(c, SlowInit, "", "init container has been running")
			f.Begun = running.StartedAt.Time
			return &f
		case c.Serves():
			text := "is not ready and has been running"
			if !c.Probed {
				text = "is not ready though it has no probe, and has been running"
			}
			f := of(c, SlowStart, "", "%s", text)
			f.Begun = running.StartedAt.Time
			return &f
		}
	}
	return nil
}

// IsSlow is true for a cause that only says that something takes long.
func IsSlow(c *v1.Cause) bool {
	return slices.Contains([]string{SlowInit, SlowPull, SlowStart}, c.Code)
}

// OfPull is an image that has been coming since a time.
func OfPull(container, image string, since time.Time) *Finding {
	f := of(evidence.Container{Name: container}, SlowPull, "", "image %s has been coming", image)
	f.Begun = since
	return &f
}

// Lasting is how long a finding has lasted, in steps, as a part of a sentence, and when
// the next step is.
func Lasting(f Finding, now time.Time) (text string, next time.Time) {
	for _, step := range []struct {
		after time.Duration
		text  string
	}{{longAfter, "5 minutes"}, {15 * time.Minute, "15 minutes"}, {time.Hour, "an hour"}, {6 * time.Hour, "6 hours"}, {24 * time.Hour, "a day"}} {
		if next = f.Begun.Add(step.after); now.Before(next) {
			return text, next
		}
		text = "for more than " + step.text
	}
	return text, time.Time{}
}

// silentStart says where to look.
func silentStart(_ v1.Cause, a About) string {
	if a.Probe == "" {
		return "It has no probe, so that it should be ready at once: the node may have stopped reporting (`kubectl get nodes`)."
	}
	return "Its probe asks for " + a.Probe + "; no event says what it gets, as they are kept for an hour."
}
