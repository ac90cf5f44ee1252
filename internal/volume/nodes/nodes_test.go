package nodes_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientset "k8s.io/client-go/kubernetes/fake"

	"github.com/berthdev/berth/internal/exec"
	"github.com/berthdev/berth/internal/exec/pod"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/volume/nodes"
)

func at(second int) metav1.Time {
	return metav1.NewTime(time.Date(2026, 11, 23, 7, 0, second, 0, time.UTC))
}

// driverPod is a driver's pod of some age.
func driverPod(name, node string, second int, state corev1.ContainerState, args ...string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: name, Namespace: "sys", CreationTimestamp: at(second),
		Labels: map[string]string{
			"app.kubernetes.io/name": "berth", "app.kubernetes.io/component": "volumes",
		},
	}}
	p.Spec.NodeName, p.Status.Phase = node, corev1.PodRunning
	p.Spec.Containers = []corev1.Container{{Name: "volumes", Args: args}}
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "volumes", State: state}}
	return p
}

func running() corev1.ContainerState {
	return corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
}

// answers is a pod in which a command ends in some way.
func answers(status int, err error, stdout, stderr string) func(*kube.Client, pod.Request) exec.Runner {
	return func(*kube.Client, pod.Request) exec.Runner {
		return func(_ context.Context, _ []string, s exec.Session) (int, error) {
			_, _ = io.WriteString(s.Stdout, stdout)
			_, _ = io.WriteString(s.Stderr, stderr)
			return status, err
		}
	}
}

func over(run func(*kube.Client, pod.Request) exec.Runner, pods ...*corev1.Pod) nodes.Nodes {
	client := clientset.NewClientset()
	for _, p := range pods {
		_ = client.Tracker().Add(p)
	}
	return nodes.Nodes{Client: &kube.Client{Interface: client, Namespace: "sys"}, User: "alice", Run: run}
}

// Of two pods of a node the one that runs is asked, or else the newer one; what is no
// driver is not asked at all.
func TestList(t *testing.T) {
	waiting := corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff"}}
	deleted := driverPod("going", "n3", 1, running())
	now := at(9)
	deleted.DeletionTimestamp = &now
	other := driverPod("gateway", "n4", 1, running())
	other.Labels["app.kubernetes.io/component"] = "gateway"
	all := over(answers(0, nil, "", ""),
		driverPod("old", "n1", 1, running()), driverPod("new", "n1", 2, running()),
		driverPod("works", "n2", 1, running()), driverPod("starts", "n2", 2, waiting),
		deleted, driverPod("ended", "n0", 1, corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}),
		driverPod("unscheduled", "", 1, corev1.ContainerState{}), driverPod("pulls", "n5", 1, waiting), other,
	)
	found, err := all.List(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	var got [][3]string
	for _, n := range found {
		got = append(got, [3]string{n.Name, n.Pod, n.Unready})
	}
	want := [][3]string{
		{"n0", "ended", "it has ended"},
		{"n1", "new", ""},
		{"n2", "works", ""},
		{"n3", "going", "it is being deleted"},
		{"n5", "pulls", "it is waiting: ImagePullBackOff"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if one, err := all.List(t.Context(), "n2"); err != nil || len(one) != 1 || one[0].Pod != "works" {
		t.Errorf("%+v, %v", one, err)
	}
	if _, err := all.List(t.Context(), "n9"); fault.CodeOf(err) != fault.NotFound {
		t.Error(err)
	}
	if err := found[0].Purge(t.Context(), "csi-1"); fault.CodeOf(err) != fault.Unavailable ||
		!strings.Contains(err.Error(), "node n0 cannot be asked: it has ended") {
		t.Error(err)
	}
}

// What is run in the pod is the program that the pod runs itself, in its directory, for
// anyone who asks.
func TestCommand(t *testing.T) {
	var got [][]string
	p := driverPod("d", "n1", 1, running(), "serve", "volumes", "--directory=/data", "--headroom=0.2")
	p.Spec.Containers[0].Command = []string{"/usr/bin/berth"}
	all := over(func(_ *kube.Client, r pod.Request) exec.Runner {
		if r.Pod != "d" || r.Container != "volumes" {
			t.Errorf("%+v", r)
		}
		return func(_ context.Context, command []string, s exec.Session) (int, error) {
			got = append(got, command)
			_, _ = io.WriteString(s.Stdout, "{}")
			return 0, nil
		}
	}, p)
	found, err := all.List(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	picture, err := found[0].Picture(t.Context())
	if err := errors.Join(err, found[0].Archive(t.Context(), "csi-1", io.Discard),
		found[0].Purge(t.Context(), "--x")); err != nil || picture.Node != "n1" {
		t.Error(picture, err)
	}
	begin := []string{"/usr/bin/berth", "serve", "ask", "--for=alice", "--directory=/data", "--"}
	want := [][]string{
		append(begin[:6:6], "list"), append(begin[:6:6], "archive", "csi-1"),
		append(begin[:6:6], "purge", "--x"),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Errors keep their code; what another program says, or a berth that does not know the
// command, is an error, too.
func TestAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		run  func(*kube.Client, pod.Request) exec.Runner
		code fault.Code
		says string
	}{
		"a failure": {
			answers(7, nil, "", `{"code":"NOT_FOUND","message":"no volume","hint":"list them"}`+"\n"),
			fault.NotFound, "no volume",
		},
		"after a warning": {
			answers(6, nil, "", "warning: x\n"+`{"code":"CONFLICT","message":"busy"}`+"\n"), fault.Conflict,
			"busy",
		},
		"another version": {
			answers(2, nil, "", "error: unknown command \"ask\"\n"), fault.Failed,
			`the driver of node n1 ends with status 2: error: unknown command "ask"`,
		},
		"no list": {answers(0, nil, "hello", ""), fault.Failed, "the list of node n1 cannot be read"},
		"no end": {
			answers(0, nil, strings.Repeat(" ", 65<<20), ""), fault.Failed,
			"the list of node n1 cannot be read",
		},
		"a lost one": {
			answers(0, fault.New(fault.Unavailable, "the connection was lost"), "{}", ""),
			fault.Unavailable, "was lost",
		},
		"who may not": {
			answers(0, fault.New(fault.PermissionDenied, "you may not"), "", ""), fault.PermissionDenied,
			"may not",
		},
	} {
		found, err := over(c.run, driverPod("d", "n1", 1, running())).List(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := found[0].Picture(t.Context()); fault.CodeOf(err) != c.code ||
			!strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Many nodes are asked side by side, some at once, and one that hangs takes its time and no
// more.
func TestAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now, most atomic.Int64
		run := func(_ *kube.Client, r pod.Request) exec.Runner {
			return func(ctx context.Context, _ []string, s exec.Session) (int, error) {
				defer now.Add(-1)
				if n := now.Add(1); n > most.Load() {
					most.Store(n)
				}
				if r.Pod == "d7" {
					<-ctx.Done()
					return 0, ctx.Err()
				}
				time.Sleep(time.Second)
				_, _ = io.WriteString(s.Stdout, "{}")
				return 0, nil
			}
		}
		var pods []*corev1.Pod
		for i := range 40 {
			pods = append(pods, driverPod("d"+string(rune('0'+i%10))+strings.Repeat("x", i/10), "n"+string(rune('a'+i)),
				1, running()))
		}
		found, err := over(run, pods...).List(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		begun, failed := time.Now(), 0
		for _, a := range nodes.Ask(t.Context(), found, 5*time.Second) {
			if a.Err != nil {
				failed++
				if fault.CodeOf(a.Err) != fault.Unavailable ||
					!strings.Contains(a.Err.Error(), "does not answer within 5s") {
					t.Error(a.Err)
				}
			}
		}
		if took := time.Since(begun); failed != 1 || took != 5*time.Second || most.Load() != 16 {
			t.Errorf("%d failed, in %s, %d at once", failed, took, most.Load())
		}
	})
}
