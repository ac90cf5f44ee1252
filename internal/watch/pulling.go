package watch

import "time"

// pullingSince says whether the container's image is being pulled, and since
// when: there is an event Pulling and nothing that ended it, neither a later
// event nor the container's status. The status can be behind the events and the
// events can be lost, so either is believed.
func (c container) pullingSince() (time.Time, bool) {
	since, open := c.openPull()
	if !open || c.status.State.Running != nil {
		return time.Time{}, false
	}
	if t := c.status.State.Terminated; t != nil && t.FinishedAt.After(since) {
		return time.Time{}, false
	}
	switch reason, _, _ := c.waiting(); reason {
	case "", reasonContainerCreating, reasonPodInitializing, reasonCrashLoopBackOff:
		return since, true
	default:
		return time.Time{}, false
	}
}

// openPull looks for an event Pulling that no other has ended. A failed pull has
// no Pulled: it ends with Failed or BackOff.
func (c container) openPull() (since time.Time, open bool) {
	for _, e := range c.events {
		switch e.Reason {
		case "Pulling":
			since, open = begunAt(e), true
		case "Pulled", "Failed", "BackOff", "InspectFailed", reasonErrImageNeverPull, "Created", "Started":
			open = false
		}
	}
	return since, open
}

// impliedPull is since when the main containers' images are being pulled if no
// event says so: PodInitializing with every init container done means that.
func impliedPull(containers []container) (since time.Time, open bool) {
	for _, c := range containers {
		if !c.init {
			reason, _, _ := c.waiting()
			if reason != reasonPodInitializing || len(c.events) > 0 {
				return time.Time{}, false
			}
			continue
		}
		if !c.initialized() {
			return time.Time{}, false
		}
		since, open = later(since, c.initializedAt()), true
	}
	return since, open
}

func (c container) initializedAt() time.Time {
	switch state := c.status.State; {
	case state.Terminated != nil:
		return state.Terminated.FinishedAt.Time
	case state.Running != nil:
		return state.Running.StartedAt.Time
	}
	return time.Time{}
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// findPulls notes which images are being pulled for longer than the policy's
// delay, and asks to be called again when one of the others may be.
func (r *reading) findPulls() {
	implied, isImplied := impliedPull(r.containers)
	for _, c := range r.containers {
		since, open := c.pullingSince()
		if !open && isImplied && !c.init {
			since, open = implied, true
		}
		if !open {
			continue
		}
		if due := since.Add(r.policy.PullDelay); r.now.Before(due) {
			r.askAt(due)
			continue
		}
		r.pulls = append(r.pulls, pull{container: c.name, image: c.image, since: since})
		if isImplied {
			return // one after another, in order
		}
	}
}

// pull is an image that is being pulled for some time.
type pull struct {
	container, image string
	since            time.Time
}

func (r *reading) pulling(name string) bool {
	for _, p := range r.pulls {
		if p.container == name {
			return true
		}
	}
	return false
}
