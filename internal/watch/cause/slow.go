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

func slow() []entry {
	return []entry{
		{
			code: SlowInit, hint: "{container} is an init container: the others begin when it has completed. It is still at work, or waits for something that does not come. {last-words}",
			explanation: explanation{
				title:    "An init container runs for long",
				meaning:  "Init containers run one after the other before the main ones, each until it has completed. This one has been running for minutes. It may have much to do, or wait for a database, a lock or a name that does not come.",
				signs:    []string{"`kubectl get pods`: Init:0/1, and no event for minutes"},
				remedies: []string{"Read its log: `kubectl logs POD --container NAME`.", "If it waits for something, look at that: does the Service exist, has it endpoints?", "`kubectl exec POD --container NAME -- ps` shows what it does."},
				passes:   "When it has completed.",
				example:  "collected/b44-init-never-ends",
			},
		},
		{
			code: SlowPull, hint: "There is no error: the image is large, or the registry or the node's network or disk is slow. `kubectl describe pod {name}{ns}` shows when it has come, and `kubectl describe node` whether the node is under pressure; " +
				"a smaller image or a registry nearby helps the next time.",
			explanation: explanation{
				title:    "An image is being pulled for long",
				meaning:  "The node has been pulling the image for minutes. Images of many gigabytes take that long. The kubelet says nothing of how far it is.",
				signs:    []string{"`kubectl get pods`: ContainerCreating, and the newest event is Pulling"},
				remedies: []string{"Wait: nothing has failed.", "See how large the image is: `docker manifest inspect IMAGE`.", "Compare with another node: only one that is slow has a disk or a network that is.", "Use a registry nearby, smaller images, or load them onto the nodes in advance."},
				passes:   "When the image has come.",
				example:  "collected/b27-50gb",
			},
		},
		{
			code: SlowStart, why: silentStart, hint: "{container} runs, but does not become ready. {why} {last-words}",
			explanation: explanation{
				title:    "A container runs for long without being ready",
				meaning:  "The container has been running for minutes, is not ready, and no event says why: events are kept for an hour, and a program that still starts is silent for its probe, too.",
				signs:    []string{"`kubectl get pods`: 0/1 Running, without an event Unhealthy"},
				remedies: []string{"Read its log.", "Ask what its probe asks, from inside: `kubectl exec POD -- wget -qO- localhost:PORT/PATH`.", "If it has no probe at all, it is the node that has not said that it is ready: `kubectl describe node`."},
				passes:   "When the container is ready.",
				example:  "collected/o82-no-events",
			},
		},
	}
}

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
