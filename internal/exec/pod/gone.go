package pod

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// lookAgain is how often a pod is looked at that cannot be watched.
const lookAgain = 2 * time.Second

// Gone returns when the pod with that UID is not there any more or has ended, with the
// reason, or when the context ends.
func Gone(ctx context.Context, client *kube.Client, name, uid string) (why string) {
	pods := client.CoreV1().Pods(client.Namespace)
	for ctx.Err() == nil {
		pod, err := pods.Get(ctx, name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			return "the pod was deleted"
		case err == nil:
			if why := ended(pod, uid); why != "" {
				return why
			}
			w, err := pods.Watch(ctx, metav1.ListOptions{
				FieldSelector:   fields.OneTermEqualSelector(metav1.ObjectNameField, name).String(),
				ResourceVersion: pod.ResourceVersion,
			})
			if err == nil {
				if why := follow(w, uid); why != "" {
					return why
				}
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(lookAgain):
		}
	}
	return ""
}

// follow reads a watch of one pod to its end.
func follow(w watch.Interface, uid string) (why string) {
	defer w.Stop()
	for e := range w.ResultChan() {
		pod, ok := e.Object.(*corev1.Pod)
		switch {
		case !ok:
			return "" // an error: the pod is looked at again
		case e.Type == watch.Deleted && string(pod.UID) == uid:
			return "the pod was deleted"
		}
		if why := ended(pod, uid); why != "" {
			return why
		}
	}
	return ""
}

// ended says why a pod is not the one that it was, or cannot be reached any more.
func ended(pod *corev1.Pod, uid string) string {
	switch {
	case string(pod.UID) != uid:
		return "the pod was replaced"
	case kube.HasEnded(pod):
		return "the pod has ended"
	}
	return ""
}

// Killed is the exit status of a command that was killed, as all of those in a container are that ends.
const Killed = 128 + 9

// ReasonOver is the reason of the error about a session whose pod or container has ended before it.
const ReasonOver = "SESSION_OVER"

// Seen is a container as it was when a session in it began.
type Seen struct {
	client  *kube.Client // of its namespace
	request Request
	uid     types.UID
	ran     string // the ID of the container
	// How long the cluster may take to say what has become of it, and the first pause between two looks.
	patience, pause time.Duration
}

// See remembers the container of a request.
func See(client *kube.Client, pod *corev1.Pod, r Request) Seen {
	s := Seen{client: client, request: r, uid: pod.UID, patience: 2500 * time.Millisecond, pause: 250 * time.Millisecond}
	if status := statusIn(pod, r.Container); status != nil {
		s.ran = status.ContainerID
	}
	return s
}

// Ended is how a session has ended: an error if its pod or its container ended before it. A command that was killed
// says nothing of that, so that the cluster is asked; what it does not say is not guessed.
func (s Seen) Ended(ctx context.Context, status int, err error) (int, error) {
	if ctx.Err() != nil || !mayBeOver(status, err) {
		return status, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	for pause := s.pause; ; pause *= 2 {
		now, asked := s.client.CoreV1().Pods(s.client.Namespace).Get(ctx, s.request.Pod, metav1.GetOptions{})
		if apierrors.IsNotFound(asked) {
			now, asked = nil, nil
		}
		switch {
		case apierrors.IsForbidden(asked):
			return status, err
		case asked == nil:
			if over := s.over(now); over != nil {
				return 0, over
			}
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return status, err
		}
	}
}

// mayBeOver is true for the end of a command that may be that of its container.
func mayBeOver(status int, err error) bool {
	if err == nil {
		return status == Killed
	}
	return fault.CodeOf(err) == fault.Unavailable || fault.ReasonOf(err) == ReasonNotRunning
}

// over says what has become of the pod, which is nil if there is no such pod any more; nil for nothing.
func (s Seen) over(now *corev1.Pod) error {
	name, verb, help := s.request.Pod, "start", "start it again, any storage it has is kept"
	var what string
	switch {
	case now == nil: // maybe the whole workspace
		what, verb = "pod "+name+" was deleted", "status"
	case now.UID != s.uid:
		what, verb = "pod "+name+" was replaced", "status"
	case now.DeletionTimestamp != nil:
		what = "pod " + name + " was deleted" + whyDisrupted(now)
	case kube.HasEnded(now):
		what = "pod " + name + " is over" + whyOver(now)
	default:
		what, verb = s.containerOver(now), "status"
	}
	if what == "" {
		return nil
	}
	if verb == "start" && now.Labels[kube.LabelInjected] == "true" {
		verb = "status" // its workload makes another one
	}
	if verb == "status" {
		help = "see its state"
	}
	failed := fault.New(fault.Failed, "%s", what).WithReason(ReasonOver)
	if s.request.ID == "" {
		return failed
	}
	return failed.WithHint("%s: %s", help, kube.Command(verb, s.request.ID, s.client.Namespace))
}

// whyDisrupted says why a pod was deleted, if it was not by its owner.
func whyDisrupted(pod *corev1.Pod) string {
	c := kube.Condition(pod, corev1.DisruptionTarget)
	if c == nil || c.Status != corev1.ConditionTrue || c.Reason == "" {
		return ""
	}
	return " (" + fault.Line(c.Reason+": "+c.Message) + ")"
}

// containerOver says what has become of the container in a pod that goes on; empty for nothing.
func (s Seen) containerOver(now *corev1.Pod) string {
	status := statusIn(now, s.request.Container)
	if status == nil || s.ran == "" {
		return ""
	}
	ended := status.State.Terminated // while it waits to be restarted, its end is the last one already
	if ended == nil || ended.ContainerID != s.ran {
		ended = status.LastTerminationState.Terminated
	}
	if ended == nil || ended.ContainerID != s.ran {
		return ""
	}
	name := "container " + s.request.Container
	if ended.Reason != "OOMKilled" {
		return fault.Line(fmt.Sprintf("%s ended with exit code %d (%s)", name, ended.ExitCode, ended.Reason))
	}
	for _, c := range slices.Concat(now.Spec.Containers, now.Spec.InitContainers) {
		if limit, ok := c.Resources.Limits[corev1.ResourceMemory]; ok && c.Name == s.request.Container {
			return name + " was OOM-killed: its memory limit is " + limit.String()
		}
	}
	return name + " was OOM-killed"
}
