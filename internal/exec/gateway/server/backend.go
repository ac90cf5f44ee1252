package server

import (
	"context"
	"slices"
	"strings"

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
func Pods(client *kube.Client) Backend {
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
		return withShell(pod.Runner(client, r), pod.ShellIn(p, r, ""), copies), nil
	}
}

// withShell runs the shell where there is no command. At a terminal it ends with its session:
// a container runtime lets it go on without a client.
func withShell(run exec.Runner, shell []string, copies *buffers) exec.Runner {
	watched := pod.HungUp(func(ctx context.Context, command []string, s exec.Session) (int, error) {
		s.Stdout = output{s.Stdout, copies} // what looks for the shell's PID copies with large buffers
		return run(ctx, command, s)
	})
	return func(ctx context.Context, command []string, s exec.Session) (int, error) {
		switch {
		case len(command) > 0:
			return run(ctx, command, s)
		case s.TTY && s.Stdout != nil:
			return watched(ctx, shell, s)
		}
		return run(ctx, shell, s)
	}
}

// choose is the pod of a workspace that is entered: one that is ready before one that only
// runs, and the oldest of those. An injected workspace has its own containers alone: the
// others are the workload's.
func choose(o Object, pods []corev1.Pod, container string) (*corev1.Pod, pod.Request, error) {
	pods = slices.DeleteFunc(pods, func(p corev1.Pod) bool {
		return p.DeletionTimestamp != nil || p.Labels[kube.LabelInjected] != "true" && p.Name != o.Name
	})
	if len(pods) == 0 {
		return nil, pod.Request{}, fault.New(fault.NotFound, "workspace %s not found in namespace %s", o.Name, o.Namespace)
	}
	slices.SortStableFunc(pods, func(a, b corev1.Pod) int {
		if kube.IsReady(&a) != kube.IsReady(&b) {
			if kube.IsReady(&a) {
				return -1
			}
			return 1
		}
		return a.CreationTimestamp.Compare(b.CreationTimestamp.Time)
	})
	var first error
	for i := range pods {
		r, err := pod.Into(&pods[i])
		if err == nil {
			r, err = within(r, &pods[i], container)
			return &pods[i], r, err
		}
		if first == nil {
			first = err
		}
	}
	return nil, pod.Request{}, first
}

// within is a request for another container of the workspace.
func within(r pod.Request, p *corev1.Pod, container string) (pod.Request, error) {
	if container == "" {
		return r, nil
	}
	own := p.Labels[kube.LabelInjected] != "true" || strings.HasPrefix(container, p.Labels[kube.LabelCanonicalID]+"-")
	for _, c := range p.Spec.Containers {
		if c.Name == container && own {
			r.Container = container
			return r, nil
		}
	}
	return r, fault.New(fault.NotFound, "workspace %s has no container %s", r.ID, container)
}
