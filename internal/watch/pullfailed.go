package watch

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// failedPull believes the event of a failed pull while the status is still
// behind, until an event or the status says that the image came after all.
func (c container) failedPull() (finding, bool) {
	if _, _, waiting := c.waiting(); !waiting {
		return finding{}, false
	}
	var failed, explained *corev1.Event
	for _, e := range c.events {
		switch {
		case pullEnded(e):
			failed, explained = nil, nil
		case pullFailed(e):
			failed = e
			if !isEcho(e) {
				explained = e
			}
		}
	}
	if failed == nil {
		return finding{}, false
	}
	if explained == nil {
		explained = failed
	}
	c.status.State.Waiting = &corev1.ContainerStateWaiting{Reason: meaningOf(explained), Message: textOf(explained)}
	f, ok := c.brokenWait()
	f.at = lastSeen(explained)
	return f, ok
}

// pullEnded is true for events that say that the image is on the node.
func pullEnded(e *corev1.Event) bool {
	return e.Reason == "Pulled" || e.Reason == "Created" || e.Reason == "Started"
}

// pullFailed is true for events that say that it could not be pulled.
func pullFailed(e *corev1.Event) bool {
	switch meaningOf(e) {
	case reasonErrImagePull, reasonImagePullBackOff, reasonInvalidImageName, reasonErrImageNeverPull:
		return true
	}
	return false
}

// isEcho is true for events that repeat a failure without saying more of it.
func isEcho(e *corev1.Event) bool {
	return e.Reason == "BackOff" || strings.HasPrefix(textOf(e), "Error: ")
}

// explained gives the registry's words where the kubelet (before 1.33) only says
// that it is backing off: the event of the attempt before has them.
func (c container) explained(message string) string {
	if !strings.HasPrefix(message, "Back-off pulling image") || strings.Contains(message, `": `) {
		return message
	}
	for _, e := range slices.Backward(c.events) {
		if pullFailed(e) && !isEcho(e) {
			return textOf(e)
		}
	}
	return message
}

// pullFailsSince is when the image could not be pulled for the first time since
// it last could; zero if no event tells. A repeated event is one object, which
// may have begun before that. Of a container that ran, it is not before its end.
func (c container) pullFailsSince() (since time.Time) {
	var arrived, ended time.Time
	if t := c.status.LastTerminationState.Terminated; t != nil {
		ended = t.FinishedAt.Time
	}
	for _, e := range c.events {
		switch {
		case pullEnded(e):
			arrived, since = lastSeen(e), time.Time{}
		case pullFailed(e):
			if at := later(arrived, firstSeen(e)); since.IsZero() || at.Before(since) {
				since = at
			}
		}
	}
	return later(since, ended)
}
