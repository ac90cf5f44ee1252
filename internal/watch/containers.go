package watch

import (
	"slices"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/registry/image"
	"github.com/berthdev/berth/internal/watch/evidence"
	"github.com/berthdev/berth/internal/watch/judge"
)

// pull is an image that is being pulled for some time.
type pull struct {
	container, image string
	since            time.Time
}

// findPulls notes which images are being pulled for longer than the policy's
// delay, and asks to be called again when one of the others may be.
func (r *reading) findPulls() {
	implied, isImplied := impliedPull(r.Containers)
	for _, c := range r.Containers {
		since, open := pullingSince(c)
		if !open && isImplied && !c.Init {
			since, open = implied, true
		}
		if !open {
			continue
		}
		if r.waits(since.Add(r.policy.PullDelay)) {
			continue
		}
		r.pulls = append(r.pulls, pull{container: c.Name, image: c.Image, since: since})
		if isImplied {
			return // one after another, in order
		}
	}
}

// pullingSince says whether the container's image is being pulled, and since
// when: there is an event Pulling and nothing that ended it, neither a later
// event nor the container's status. The status can be behind the events and the
// events can be lost, so either is believed.
func pullingSince(c evidence.Container) (time.Time, bool) {
	since, open := c.OpenPull()
	if !open || c.Status.State.Running != nil {
		return time.Time{}, false
	}
	if t := c.Status.State.Terminated; t != nil && t.FinishedAt.After(since) {
		return time.Time{}, false
	}
	switch reason, _, _ := c.Waiting(); reason {
	case "", evidence.ContainerCreating, evidence.PodInitializing, evidence.CrashLoopBackOff:
		return since, true
	default:
		return time.Time{}, false
	}
}

// impliedPull is since when the main containers' images are being pulled if no
// event says so: PodInitializing with every init container done means that.
func impliedPull(containers []evidence.Container) (since time.Time, open bool) {
	for _, c := range containers {
		if !c.Init {
			reason, _, _ := c.Waiting()
			if reason != evidence.PodInitializing || len(c.Events) > 0 {
				return time.Time{}, false
			}
			continue
		}
		if !c.IsInitialized() {
			return time.Time{}, false
		}
		since, open = evidence.Later(since, c.InitializedAt()), true
	}
	return since, open
}

// pullingImages is the stage by the image that has been coming the longest; a big
// one is progress, not a hang.
func (r *reading) pullingImages() stageResult {
	first := r.longestPull()
	return stageResult{stage: v1.StagePulling, since: first.since, message: image.Parse(first.image).Short()}
}

func (r *reading) longestPull() pull {
	return slices.MinFunc(r.pulls, func(a, b pull) int { return a.since.Compare(b.since) })
}

// container is a container as it is printed.
func (r *reading) container(c evidence.Container) v1.Container {
	printed := v1.Container{
		Name:     c.Name,
		Init:     c.Init,
		Image:    c.Image,
		State:    r.containerState(c),
		Restarts: int(c.Status.RestartCount),
	}
	switch state := c.Status.State; {
	case state.Waiting != nil:
		printed.Reason = state.Waiting.Reason
	case state.Terminated != nil:
		printed.Reason = state.Terminated.Reason
	}
	if t := c.Ended(); t != nil {
		code := int(t.ExitCode)
		printed.ExitCode = &code
	}
	if printed.State == v1.ContainerWaiting && kube.HasEnded(r.Pod.Pod) {
		printed.Reason = v1.NotStarted
	}
	return printed
}

func (r *reading) containerState(c evidence.Container) v1.ContainerState {
	state := c.Status.State
	switch {
	case slices.ContainsFunc(r.pulls, func(p pull) bool { return p.container == c.Name }):
		return v1.ContainerPulling
	case c.IsReady():
		return v1.ContainerReady
	case state.Running != nil:
		return v1.ContainerRunning
	case state.Terminated != nil && state.Terminated.ExitCode == 0:
		return v1.ContainerDone
	case state.Terminated != nil, c.Ended() != nil && c.Ended().ExitCode != 0, judge.IsStuck(c):
		return v1.ContainerFailed
	}
	return v1.ContainerWaiting
}
