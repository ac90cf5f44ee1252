package logs

import (
	"bufio"
	"context"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

func pod(phase corev1.PodPhase, status corev1.ContainerStatus) *corev1.Pod {
	status.Name = "main"
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "alice", UID: "1"},
		Spec: corev1.PodSpec{
			InitContainers: []corev1.Container{{Name: "init"}},
			Containers:     []corev1.Container{{Name: "main"}},
		},
		Status: corev1.PodStatus{Phase: phase, ContainerStatuses: []corev1.ContainerStatus{status}},
	}
}

func waiting(reason string) corev1.ContainerStatus {
	return corev1.ContainerStatus{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}}
}

func ended(id string) corev1.ContainerState {
	return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ContainerID: id}}
}

func TestReadable(t *testing.T) {
	running := corev1.ContainerStatus{State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}
	crashed := waiting("CrashLoopBackOff")
	crashed.LastTerminationState = ended("x")
	for name, tc := range map[string]struct {
		pod     *corev1.Pod
		request Request
		code    fault.Code
		says    string
	}{
		"runs": {pod(corev1.PodRunning, running), Request{Container: "main"}, "", ""},
		"has ended": {
			pod(corev1.PodFailed, corev1.ContainerStatus{State: ended("x")}),
			Request{Container: "main"},
			"", "",
		},
		"will be started again": {pod(corev1.PodRunning, crashed), Request{Container: "main"}, "", ""},
		"before it":             {pod(corev1.PodRunning, crashed), Request{Container: "main", Previous: true}, "", ""},
		"none before it": {
			pod(corev1.PodRunning, running),
			Request{Container: "main", Previous: true},
			fault.NotFound, "has not been restarted",
		},
		"no such container": {
			pod(corev1.PodRunning, running),
			Request{Container: "x"},
			fault.NotFound,
			`no container "x"`,
		},
		"waits": {
			pod(corev1.PodPending, waiting("ErrImagePull")),
			Request{Container: "main"},
			fault.Failed, "not started yet: ErrImagePull",
		},
		"nothing is known": {
			pod(corev1.PodPending, corev1.ContainerStatus{}),
			Request{Container: "init"},
			fault.Failed, "not started yet: the pod is Pending",
		},
		"deleted before it came": {
			pod(corev1.PodFailed, corev1.ContainerStatus{State: ended("")}),
			Request{Container: "main"},
			fault.Failed, "has never started: the pod is Failed",
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := readable(tc.pod, tc.request)
			if fault.CodeOf(err) != tc.code || err != nil && !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%v, want %s %q", err, tc.code, tc.says)
			}
		})
	}
}

// A hint names the workspace, not the pod of the workload that it may be in, and where
// it is.
func TestReadableHint(t *testing.T) {
	for phase, want := range map[corev1.PodPhase]string{
		corev1.PodPending: "-f waits for it unless the workspace has failed; see why it has not started: berth " +
			"status id/alice-2bd806c --namespace dev",
		corev1.PodFailed: "see why: berth status id/alice-2bd806c --namespace dev",
	} {
		p := pod(phase, corev1.ContainerStatus{})
		p.Name, p.Namespace, p.Labels = "shop-5d4f-x", "dev", map[string]string{kube.LabelCanonicalID: "alice-2bd806c"}
		if got := fault.From(readable(p, Request{Container: "main"})).Hint; got != want {
			t.Errorf("%s: hint %q", phase, got)
		}
	}
}

func TestReached(t *testing.T) {
	asked := pod(corev1.PodPending, waiting("ContainerCreating"))
	running := pod(corev1.PodRunning,
		corev1.ContainerStatus{State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}})
	deleted := pod(corev1.PodFailed, corev1.ContainerStatus{State: ended("")})
	deleted.DeletionTimestamp = &metav1.Time{}
	r := Request{Container: "main"}
	for name, tc := range map[string]struct {
		now  *corev1.Pod
		gone bool
		done bool
		code fault.Code
	}{
		"still waits":  {asked, false, false, ""},
		"runs":         {running, false, true, ""},
		"deleted":      {asked, true, false, fault.NotFound},
		"goes":         {deleted, false, false, fault.NotFound},
		"never starts": {pod(corev1.PodFailed, corev1.ContainerStatus{}), false, false, fault.Failed},
	} {
		done, err := reached(asked, tc.now, tc.gone, r)
		if done != tc.done || fault.CodeOf(err) != tc.code {
			t.Errorf("%s: %v, %v", name, done, err)
		}
	}
}

func TestWorst(t *testing.T) {
	none, denied := fault.New(fault.Failed, "not started"), fault.New(fault.PermissionDenied, "no")
	for _, tc := range []struct {
		errs []error
		want error
	}{
		{[]error{nil, none}, nil},
		{[]error{none, none}, none},
		{[]error{nil, denied, none}, denied},
		{[]error{nil, context.Canceled}, context.Canceled},
	} {
		if got := worst(tc.errs); !errors.Is(got, tc.want) {
			t.Errorf("%v: %v, want %v", tc.errs, got, tc.want)
		}
	}
}

func TestLinesKeepTogether(t *testing.T) {
	var out strings.Builder
	l := &lines{out: &out}
	for _, text := range []string{"a\nb", "c\n", ""} {
		if err := l.copy("[x] ", bufio.NewReader(strings.NewReader(text))); err != nil {
			t.Fatal(err)
		}
	}
	if out.String() != "[x] a\n[x] b\n[x] c\n" {
		t.Errorf("%q", out.String())
	}
}
