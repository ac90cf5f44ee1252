package server

import (
	"context"
	"log/slog"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/berthdev/berth/internal/exec"
	"github.com/berthdev/berth/internal/exec/pod"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// Backend finds what an object is, and gives what runs commands there.
type Backend func(ctx context.Context, o Object, options Options) (exec.Runner, error)

// Pods are workspaces: commands run in a pod that carries the workspace's ID.
func Pods(client *kube.Client, log *slog.Logger) Backend {
	copies := &buffers{}
	return func(ctx context.Context, o Object, options Options) (exec.Runner, error) {
		client := client.In(o.Namespace)
		list, err := client.CoreV1().Pods(o.Namespace).List(ctx, metav1.ListOptions{
			LabelSelector: labels.Set{kube.LabelCanonicalID: kube.LabelValue(o.Name)}.AsSelector().String(),
		})
		if err != nil {
			return nil, kube.Fault(err, kube.Call{Verb: "list", Resource: "pods", Namespace: o.Namespace})
		}
		p, r, err := choose(o, list.Items, options.Container)
		if err != nil {
			return nil, err
		}
		// The pod itself is not kept: it can be larger than all else that a session takes.
		run := withLogin(pod.Runner(client, r), pod.LoginIn(p, r, options.User), options.Login, copies)
		return func(ctx context.Context, command []string, s exec.Session) (int, error) {
			status, err := run(ctx, command, s)
			if err != nil && ctx.Err() == nil {
				err = ofWorkspace(o, err, log)
			}
			return status, err
		}, nil
	}
}

// ofWorkspace is an error of a session with a pod, in words for a user: the addresses of the
// API server and of nodes are for the log alone.
func ofWorkspace(o Object, err error, log *slog.Logger) error {
	code := fault.CodeOf(err)
	if code != fault.Unavailable && code != fault.Internal && code != fault.PermissionDenied &&
		code != fault.Unauthenticated {
		return err
	}
	log.Error("the API server has not run a command to its end",
		slog.String("namespace", o.Namespace), slog.String("workspace", o.Name),
		slog.String("error", fault.Line(err.Error())))
	if how, is := exec.Unsure(err); is {
		return fault.New(fault.Unavailable, "the session with workspace %s %s", o.Name, how).
			WithReason(exec.ReasonUnsure)
	}
	if code == fault.Unavailable {
		return fault.New(fault.Unavailable,
			"the connection to workspace %s was lost, or could not be made; the log of the gateway says why", o.Name)
	}
	return fault.New(fault.Internal, "the command cannot be run in workspace %s; the log of the gateway says why",
		o.Name)
}

// withLogin runs commands as the user, and their shell where there is no command. At a
// terminal that ends with its session: a container runtime lets it go on without a client.
// With asShell, commands are the user's as the shell is.
func withLogin(run exec.Runner, login pod.Login, asShell bool, copies *buffers) exec.Runner {
	watched := pod.HungUp(func(ctx context.Context, command []string, s exec.Session) (int, error) {
		s.Stdout = output{s.Stdout, copies} // what looks for the shell's PID copies with large buffers
		return run(ctx, command, s)
	})
	return func(ctx context.Context, command []string, s exec.Session) (int, error) {
		switch {
		case len(command) == 0 && s.TTY && s.Stdout != nil:
			return login.As(watched)(ctx, command, s)
		case len(command) > 0 && asShell:
			return login.Theirs(run)(ctx, command, s)
		}
		return login.As(run)(ctx, command, s)
	}
}

// choose is where in the pods of a workspace a session is: in one that is ready before one that
// only runs, and the oldest of those. An injected workspace has its own containers alone.
func choose(o Object, pods []corev1.Pod, container string) (*corev1.Pod, pod.Request, error) {
	var own []*corev1.Pod
	for i := range pods {
		if p := &pods[i]; p.DeletionTimestamp == nil && kube.IsOfWorkspace(&p.ObjectMeta) {
			own = append(own, p)
		}
	}
	if len(own) == 0 {
		return nil, pod.Request{}, fault.New(fault.NotFound, "workspace %s not found in namespace %s", o.Name,
			o.Namespace)
	}
	slices.SortStableFunc(own, func(a, b *corev1.Pod) int {
		if kube.IsReady(a) != kube.IsReady(b) {
			if kube.IsReady(a) {
				return -1
			}
			return 1
		}
		return a.CreationTimestamp.Compare(b.CreationTimestamp.Time)
	})
	r, err := pod.Place{Container: container, Own: true}.In(own)
	if err != nil {
		return nil, pod.Request{}, err
	}
	p, err := pod.Place{Pod: r.Pod}.Choose(own)
	return p, r, err
}
