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
			if what := became(pod, types.UID(uid)); what != "" {
				return "the pod " + what
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
		if what := became(pod, types.UID(uid)); what != "" {
			return "the pod " + what
		}
	}
	return ""
}

// became says what has become of a pod, nil for one that is not there, that is not the one that it was, or cannot be
// reached any more; empty for nothing.
func became(pod *corev1.Pod, uid types.UID) string {
	switch {
	case pod == nil:
		return "was deleted"
	case pod.UID != uid:
		return "was replaced"
	case kube.HasEnded(pod):
		return "has ended"
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
	s := Seen{client: client, request: r, uid: pod.UID, patience: 2500 * time.Millisecond}
	s.pause = s.patience / 10
	if status := statusIn(pod, r.Container); status != nil {
		s.ran = status.ContainerID
	}
	return s
}

// Ended is how a session has ended: an error if its pod or its container ended before it. A command that was killed
// says nothing of that, so that the cluster is asked; what it does not say is not guessed.
func (s Seen) Ended(ctx context.Context, status int, err error) (int, error) {
	if ctx.Err() != nil || !mayHaveEnded(status, err) {
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
			if ended := s.ended(now); ended != nil {
				return 0, ended
			}
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return status, err
		}
	}
}

// mayHaveEnded is true for the end of a command that may be that of its container.
func mayHaveEnded(status int, err error) bool {
	if err == nil {
		return status == Killed
	}
	return fault.CodeOf(err) == fault.Unavailable || fault.ReasonOf(err) == ReasonNotRunning
}

// ended says what has become of the pod, which is nil if there is no such pod any more; nil for nothing.
func (s Seen) ended(now *corev1.Pod) error {
	what, startable := became(now, s.uid), false
	if now != nil && now.UID == s.uid {
		switch {
		case now.DeletionTimestamp != nil:
			what = "was deleted" + whyDisrupted(now)
		case what != "":
			what += whyOver(now)
		}
		startable = what != "" && now.Labels[kube.LabelInjected] != "true" // a workload makes another one
	}
	if what != "" {
		what = "pod " + s.request.Pod + " " + what
	} else if what = s.containerEnded(now); what == "" {
		return nil
	}
	failed := fault.New(fault.Failed, "%s", what).WithReason(ReasonOver)
	switch {
	case s.request.ID == "":
		return failed
	case startable:
		return failed.WithHint("start it again, any storage it has is kept: %s",
			kube.Command("start", s.request.ID, s.client.Namespace))
	}
	return failed.WithHint("see its state: %s", kube.Command("status", s.request.ID, s.client.Namespace))
}

// whyDisrupted says why a pod was deleted, if it was not by its owner.
func whyDisrupted(pod *corev1.Pod) string {
	c := kube.Condition(pod, corev1.DisruptionTarget)
	if c == nil || c.Status != corev1.ConditionTrue || c.Reason == "" {
		return ""
	}
	return " (" + fault.Line(c.Reason+": "+c.Message) + ")"
}

// containerEnded says what has become of the container in a pod that goes on; empty for nothing.
func (s Seen) containerEnded(now *corev1.Pod) string {
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
