package server

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/exec"
	"github.com/berthdev/berth/internal/exec/pod"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/watch/watchtest"
)

// Beside a shell at a terminal runs what hangs it up, until the session ends; beside a command,
// and without a terminal, there is none.
func TestShellIsWatched(t *testing.T) {
	for name, c := range map[string]struct {
		command []string
		session exec.Session
		watched bool
	}{
		"a shell":                    {nil, exec.Session{TTY: true, Stdout: io.Discard}, true},
		"a shell without a terminal": {nil, exec.Session{Stdout: io.Discard}, false},
		"a shell that says nothing":  {nil, exec.Session{TTY: true}, false},
		"a command": {
			[]string{"/bin/sh", "-c", "top", "sh"},
			exec.Session{TTY: true, Stdout: io.Discard},
			false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			watching, ended := make(chan string, 1), make(chan struct{})
			run := func(ctx context.Context, command []string, s exec.Session) (int, error) {
				if command[3] == "berth-hangup" {
					defer close(ended)
					watching <- command[4]
					<-ctx.Done()
					return 0, ctx.Err()
				}
				if strings.Contains(command[2], "berth-pid") != c.watched {
					t.Errorf("%q is run", command[2])
				}
				if c.watched {
					_, _ = io.WriteString(s.Stdout, "\x1b_berth-pid 42\x1b\\$ ")
					if pid := <-watching; pid != "42" {
						t.Errorf("%s is watched", pid)
					}
				}
				return 3, nil
			}
			status, err := withLogin(run, pod.Login{}, false, &buffers{})(t.Context(), c.command, c.session)
			if status != 3 || err != nil {
				t.Errorf("%d, %v", status, err)
			}
			if c.watched {
				<-ended
			}
		})
	}
}

// A command is run as it is, or by the user of the workspace as their shell would be.
func TestCommandOfALogin(t *testing.T) {
	login := pod.Login{Own: "dev", Home: "/home/dev", Container: "main"}
	for asShell, want := range map[bool]string{false: "ls -l", true: "dev /home/dev main ls -l"} {
		var got []string
		run := func(_ context.Context, command []string, _ exec.Session) (int, error) {
			got = command
			return 0, nil
		}
		_, _ = withLogin(run, login, asShell, &buffers{})(t.Context(), []string{"ls", "-l"},
			exec.Session{Stdout: io.Discard})
		if asShell {
			got = got[4:] // behind the script
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// running is a pod of the workspace alice, made so many seconds after the first, with these
// containers, which run; sidecars, and what debugs it, begin with side- and debug-.
func running(name string, injected, ready bool, after int, containers ...string) corev1.Pod {
	p := corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: name, CreationTimestamp: metav1.Unix(int64(after), 0),
		Labels: map[string]string{kube.LabelCanonicalID: "alice"},
	}}
	if injected {
		p.Labels[kube.LabelInjected], p.Labels[kube.LabelWorkloadKind], p.Labels[kube.LabelWorkloadName] = "true",
			"deployment", "web"
		watchtest.OfDeployment(&p, "web", "set")
	}
	if ready {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	}
	always := corev1.ContainerRestartPolicyAlways
	for _, c := range containers {
		status := corev1.ContainerStatus{
			Name:  c,
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
		}
		switch {
		case strings.HasPrefix(c, "side-"):
			p.Spec.InitContainers = append(p.Spec.InitContainers, corev1.Container{Name: c, RestartPolicy: &always})
			p.Status.InitContainerStatuses = append(p.Status.InitContainerStatuses, status)
		case strings.HasPrefix(c, "debug-"):
			p.Spec.EphemeralContainers = append(p.Spec.EphemeralContainers,
				corev1.EphemeralContainer{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: c}})
			p.Status.EphemeralContainerStatuses = append(p.Status.EphemeralContainerStatuses, status)
		default:
			p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: c})
			p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, status)
		}
	}
	return p
}

func TestChoose(t *testing.T) {
	const main, own = "k8shell-main", "alice-k8shell-main"
	workspace := running("alice", false, true, 0, "other", main, "side-car", "debug-it")
	replica := func(name string, ready bool, after int) corev1.Pod {
		return running(name, true, ready, after, "web", own, "side-car", "debug-it")
	}
	going := replica("going", true, 0)
	going.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
	starting := replica("starting", true, 0)
	starting.Status.ContainerStatuses = nil
	for name, c := range map[string]struct {
		pods           []corev1.Pod
		ask            string
		pod, container string
		code           fault.Code
	}{
		"the main container": {[]corev1.Pod{workspace}, "", "alice", main, ""},
		"another container":  {[]corev1.Pod{workspace}, "other", "alice", "other", ""},
		"a sidecar":          {[]corev1.Pod{workspace}, "side-car", "alice", "side-car", ""},
		"what debugs it":     {[]corev1.Pod{workspace}, "debug-it", "alice", "debug-it", ""},
		"no such container":  {[]corev1.Pod{workspace}, "none", "", "", fault.InvalidArgument},
		"a pod that is called otherwise": {
			[]corev1.Pod{running("mallory", false, true, 0, main)},
			"", "", "",
			fault.NotFound,
		},
		"no pod":                   {nil, "", "", "", fault.NotFound},
		"one that is going":        {[]corev1.Pod{going}, "", "", "", fault.NotFound},
		"one that starts":          {[]corev1.Pod{starting}, "", "", "", fault.Failed},
		"the one that runs":        {[]corev1.Pod{starting, replica("b", false, 1)}, "", "b", own, ""},
		"the one that is ready":    {[]corev1.Pod{replica("a", false, 0), replica("b", true, 1)}, "", "b", own, ""},
		"the oldest":               {[]corev1.Pod{replica("a", true, 2), replica("b", true, 1)}, "", "b", own, ""},
		"its own container":        {[]corev1.Pod{replica("a", true, 0)}, own, "a", own, ""},
		"the workload's":           {[]corev1.Pod{replica("a", true, 0)}, "web", "", "", fault.InvalidArgument},
		"the workload's sidecar":   {[]corev1.Pod{replica("a", true, 0)}, "side-car", "", "", fault.InvalidArgument},
		"what debugs the workload": {[]corev1.Pod{replica("a", true, 0)}, "debug-it", "", "", fault.InvalidArgument},
	} {
		t.Run(name, func(t *testing.T) {
			p, r, err := choose(Object{Kind: Workspace, Namespace: "dev", Name: "alice"}, c.pods, c.ask)
			if fault.CodeOf(err) != c.code || r.Pod != c.pod || r.Container != c.container {
				t.Errorf("%+v, %v (%s)", r, err, fault.CodeOf(err))
			}
			if err == nil && p.Name != c.pod {
				t.Errorf("the pod is %s", p.Name)
			}
		})
	}
}
