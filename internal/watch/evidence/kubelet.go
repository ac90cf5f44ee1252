package evidence

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// The kubelet's words for why a container waits or ended.
const (
	ErrImagePull      = "ErrImagePull"
	ImagePullBackOff  = "ImagePullBackOff"
	InvalidImageName  = "InvalidImageName"
	ErrImageNeverPull = "ErrImageNeverPull"
	OOMKilled         = "OOMKilled"
	CrashLoopBackOff  = "CrashLoopBackOff"
	StartError        = "StartError"
	PodInitializing   = "PodInitializing"
	ContainerCreating = "ContainerCreating"
)

// Meaning is the name that the flow's severity table has for an event. The
// table's names are the reasons of a container's status; the kubelet's events of
// the same thing are Failed, BackOff and InspectFailed, which only the text tells
// apart.
func Meaning(e *corev1.Event) string {
	text := Text(e)
	switch e.Reason {
	case "Failed":
		if strings.HasPrefix(text, "Failed to pull image") {
			return ErrImagePull
		}
		switch word := strings.TrimPrefix(text, "Error: "); word {
		case ErrImagePull, ImagePullBackOff, InvalidImageName, ErrImageNeverPull:
			return word
		}
	case "BackOff":
		if strings.HasPrefix(text, "Back-off pulling image") {
			return ImagePullBackOff
		}
	case "InspectFailed":
		// The same reason is used when the runtime could not answer.
		if !strings.HasPrefix(text, "Failed to inspect image") {
			return InvalidImageName
		}
	}
	return e.Reason
}

// PullEnded is true for events that say that the image is on the node.
func PullEnded(e *corev1.Event) bool {
	return e.Reason == "Pulled" || e.Reason == "Created" || e.Reason == "Started"
}

// PullFailed is true for events that say that the image could not be pulled.
func PullFailed(e *corev1.Event) bool {
	switch Meaning(e) {
	case ErrImagePull, ImagePullBackOff, InvalidImageName, ErrImageNeverPull:
		return true
	}
	return false
}

// IsEcho is true for events that repeat a failed pull without saying why.
func IsEcho(e *corev1.Event) bool {
	return e.Reason == "BackOff" || strings.HasPrefix(Text(e), "Error: ")
}

// OpenPull is since when the container's image is being pulled, by the events: an
// event Pulling that no other has ended. A failed pull has no Pulled: it ends with
// Failed or BackOff.
func (c Container) OpenPull() (since time.Time, open bool) {
	for _, e := range c.Events {
		switch e.Reason {
		case "Pulling":
			since, open = exactly(e), true
		case "Pulled", "Failed", "BackOff", "InspectFailed", ErrImageNeverPull, "Created", "Started":
			open = false
		}
	}
	return since, open
}

// NodeIsSlow tells words of a node that takes its time from those about a configuration that is wrong.
func NodeIsSlow(message string) bool {
	switch {
	case strings.Contains(message, "failed to sync") && strings.Contains(message, "cache"),
		strings.Contains(message, "context deadline exceeded"),
		strings.Contains(message, "DeadlineExceeded"),
		strings.Contains(message, "failed to reserve container name"),
		strings.Contains(message, "is reserved for"),
		strings.Contains(message, "is already in use by"),
		strings.Contains(message, "services have not yet been read"):
		return true
	}
	return false
}
