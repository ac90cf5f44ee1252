package pod

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/fault"
)

const mainContainer = "alice-2bd806c-k8shell-main"

// own is the pod of a workspace that runs, changed.
func own(change func(*corev1.Pod, *corev1.ContainerStatus)) *corev1.Pod {
	pod := replica("alice-2bd806c", mainContainer)
	delete(pod.Labels, "k8shell.io/injected")
	pod.UID, pod.Status.Phase = "1", corev1.PodRunning
	status := &pod.Status.ContainerStatuses[0]
	status.ContainerID = "containerd://1"
	if change != nil {
		change(pod, status)
	}
	return pod
}

// terminated is the end of the container that ran.
func terminated(reason string, code int32) *corev1.ContainerStateTerminated {
	return &corev1.ContainerStateTerminated{Reason: reason, ExitCode: code, ContainerID: "containerd://1"}
}

// What has become of a pod or of a container is said as the cluster has it; what it does not say is not guessed.
func TestSeenEnded(t *testing.T) {
	const start, see = "berth start id/alice-2bd806c --namespace dev", "berth status id/alice-2bd806c --namespace dev"
	for name, c := range map[string]struct {
		now             *corev1.Pod
		message, helpBy string
	}{
		"as it was": {own(nil), "", ""},
		"no pod any more, nor a workspace perhaps": {nil, "pod alice-2bd806c was deleted", see},
		"another pod": {
			own(func(p *corev1.Pod, _ *corev1.ContainerStatus) { p.UID = "2" }),
			"pod alice-2bd806c was replaced", see,
		},
		"being deleted": {own(func(p *corev1.Pod, s *corev1.ContainerStatus) {
			p.DeletionTimestamp = &metav1.Time{}
			s.State = corev1.ContainerState{Terminated: terminated("Error", 137)}
		}), "pod alice-2bd806c was deleted", start},
		"being deleted, of a workload": {injected(own(func(p *corev1.Pod, _ *corev1.ContainerStatus) {
			p.DeletionTimestamp = &metav1.Time{}
		})), "pod alice-2bd806c was deleted", see},
		"evicted through the API": {own(func(p *corev1.Pod, _ *corev1.ContainerStatus) {
			p.DeletionTimestamp = &metav1.Time{}
			p.Status.Conditions = []corev1.PodCondition{{
				Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "EvictionByEvictionAPI",
				Message: "Eviction API: evicting",
			}}
		}), "pod alice-2bd806c was deleted (EvictionByEvictionAPI: Eviction API: evicting)", start},
		"evicted by its node": {own(func(p *corev1.Pod, _ *corev1.ContainerStatus) {
			p.Status.Phase, p.Status.Reason = corev1.PodFailed, "Evicted"
			p.Status.Message = "The node was low on resource: memory."
		}), "pod alice-2bd806c has ended (Evicted: The node was low on resource: memory.)", start},
		"out of memory": {own(func(p *corev1.Pod, s *corev1.ContainerStatus) {
			s.State = corev1.ContainerState{Terminated: terminated("OOMKilled", 137)}
			p.Spec.Containers[1].Resources.Limits = corev1.ResourceList{
				corev1.ResourceMemory: resource.MustParse("1Gi"),
			}
		}), "container " + mainContainer + " was OOM-killed: its memory limit is 1Gi", see},
		"out of memory, and running again": {own(func(_ *corev1.Pod, s *corev1.ContainerStatus) {
			s.ContainerID, s.LastTerminationState.Terminated = "containerd://2", terminated("OOMKilled", 137)
		}), "container " + mainContainer + " was OOM-killed", see},
		"out of memory, and waiting to be restarted": {own(func(_ *corev1.Pod, s *corev1.ContainerStatus) {
			s.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}
			s.LastTerminationState.Terminated = terminated("OOMKilled", 137)
		}), "container " + mainContainer + " was OOM-killed", see},
		"ended": {own(func(_ *corev1.Pod, s *corev1.ContainerStatus) {
			s.State = corev1.ContainerState{Terminated: terminated("Error", 3)}
		}), "container " + mainContainer + " ended with exit code 3 (Error)", see},
		"out of memory before the session": {own(func(_ *corev1.Pod, s *corev1.ContainerStatus) {
			s.LastTerminationState.Terminated = terminated("OOMKilled", 137)
			s.LastTerminationState.Terminated.ContainerID = "containerd://0"
		}), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			client := clientOf(t, http.NotFoundHandler())
			seen := See(client, own(nil), Request{Pod: "alice-2bd806c", Container: mainContainer, ID: "alice-2bd806c"})
			said := &fault.Error{}
			if ended := seen.ended(c.now); ended != nil {
				said = fault.From(ended)
			}
			if said.Message != c.message || !strings.HasSuffix(said.Hint, c.helpBy) ||
				c.helpBy == "" != (said.Hint == "") {
				t.Errorf("%q, hint %q", said.Message, said.Hint)
			}
		})
	}
}

// A command that was killed, or whose connection broke off, may have ended with its pod: that is asked for, a short
// time. Any other end is passed on at once.
func TestEnded(t *testing.T) {
	lost := fault.New(fault.Unavailable, "the connection to the API server was lost")
	for name, c := range map[string]struct {
		status  int
		err     error
		answers []int         // the status of the API server, one after the other: of OK the pod as it was
		within  time.Duration // how long is asked; 0: until there is something to say
		want    string
		asks    int // how often; -1: more than once
	}{
		"success":                           {0, nil, nil, 0, "0 <nil>", 0},
		"a failure":                         {1, nil, nil, 0, "1 <nil>", 0},
		"no such program":                   {0, fault.New(fault.InvalidArgument, "no"), nil, 0, "0 no", 0},
		"not begun":                         {0, fault.New(fault.Internal, "no"), nil, 0, "0 no", 0},
		"killed, and no pod":                {137, nil, []int{404}, 0, "0 pod alice-2bd806c was deleted", 1},
		"lost, and no pod":                  {0, lost, []int{404}, 0, "0 pod alice-2bd806c was deleted", 1},
		"killed by somebody":                {137, nil, []int{200}, time.Second / 2, "137 <nil>", -1},
		"lost, and nothing else":            {0, lost, []int{200}, time.Second / 2, "0 " + lost.Message, -1},
		"killed, and pods may not be read":  {137, nil, []int{403}, 0, "137 <nil>", 1},
		"the cluster takes a moment to say": {137, nil, []int{200, 200, 404}, 0, "0 pod alice-2bd806c was deleted", 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int32
			client := clientOf(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				code := c.answers[min(int(asked.Add(1)), len(c.answers))-1]
				w.WriteHeader(code)
				if code == http.StatusOK {
					_ = json.NewEncoder(w).Encode(own(nil))
					return
				}
				reason := map[int]metav1.StatusReason{
					404: metav1.StatusReasonNotFound,
					403: metav1.StatusReasonForbidden,
				}[code]
				_ = json.NewEncoder(w).Encode(metav1.Status{Status: "Failure", Reason: reason})
			}))
			seen := See(client, own(nil), Request{Pod: "alice-2bd806c", Container: mainContainer, ID: "alice-2bd806c"})
			seen.patience, seen.pause = cmp.Or(c.within, time.Minute), 10*time.Millisecond
			status, err := seen.Ended(t.Context(), c.status, c.err)
			got, n := strconv.Itoa(status)+" "+said(err), int(asked.Load())
			if got != c.want || c.asks >= 0 && n != c.asks || c.asks < 0 && n < 2 {
				t.Errorf("%s after %d questions", got, n)
			}
		})
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("interrupted"))
	if status, err := (Seen{}).Ended(ctx, Killed, nil); status != Killed || err != nil {
		t.Errorf("a session that this side has ended: %d, %v", status, err)
	}
}

func said(err error) string {
	if err == nil {
		return "<nil>"
	}
	return fault.From(err).Message
}
