// Package nodes asks the drivers of scratch volumes of all nodes, by running a command
// in their pods: anyone who may do that may do anything with the volumes.
package nodes

import (
	"cmp"
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/exec"
	"github.com/berthdev/berth/internal/exec/pod"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// Selector finds the driver's pods: the labels of `berth serve manifests volumes`.
const Selector = "app.kubernetes.io/name=berth,app.kubernetes.io/component=volumes"

// container is the driver's, among those of its pod.
const container = "volumes"

// program is where the image has berth, unless the pod names another one.
const program = "/berth"

// Nodes are the nodes of a cluster that have a driver.
type Nodes struct {
	Client *kube.Client // in the namespace of the drivers
	// User is who asks, for the audit of the drivers.
	User string
	// Run runs a command in a pod; it is pod.Runner outside of tests.
	Run func(*kube.Client, pod.Request) exec.Runner
}

// Node is the driver of one node, and how it is asked.
type Node struct {
	Name string
	// Pod is the driver's; Unready is why it cannot be asked, empty if it can.
	Pod, Unready string

	run  exec.Runner
	ask  []string // begins each command
	last []string // ends it
}

// List finds the nodes that have a driver, in the order of their names: only the one
// of this name if it is not empty.
func (n Nodes) List(ctx context.Context, name string) ([]Node, error) {
	options := metav1.ListOptions{LabelSelector: Selector}
	if name != "" {
		options.FieldSelector = "spec.nodeName=" + name
	}
	pods, err := n.Client.CoreV1().Pods(n.Client.Namespace).List(ctx, options)
	if err != nil {
		return nil, kube.Fault(err, kube.Call{Verb: "list", Resource: "pods", Namespace: n.Client.Namespace})
	}
	var all []Node
	for _, p := range chosen(pods.Items) {
		if name == "" || p.Spec.NodeName == name {
			all = append(all, n.node(p))
		}
	}
	switch {
	case len(all) == 0 && name != "":
		return nil, fault.New(fault.NotFound, "node %s has no driver of scratch volumes in namespace %s", name,
			n.Client.Namespace).
			WithHint("berth volume list shows the nodes that have one")
	case len(all) == 0:
		return nil, fault.New(fault.NotFound, "no driver of scratch volumes runs in namespace %s", n.Client.Namespace).
			WithHint("name its namespace with --driver-namespace, or install it: berth serve manifests volumes")
	}
	return all, nil
}

// chosen is one pod of each node: while a driver is replaced, a node can have two.
func chosen(pods []corev1.Pod) (best []*corev1.Pod) {
	at := map[string]int{}
	for i := range pods {
		p := &pods[i]
		if p.Spec.NodeName == "" {
			continue
		}
		j, another := at[p.Spec.NodeName]
		switch {
		case !another:
			at[p.Spec.NodeName] = len(best)
			best = append(best, p)
		case better(p, best[j]):
			best[j] = p
		}
	}
	slices.SortFunc(best, func(a, b *corev1.Pod) int { return strings.Compare(a.Spec.NodeName, b.Spec.NodeName) })
	return best
}

// better says which of two pods of a node is the one to ask: the one that runs, and of
// those that do, or do not, the newer one.
func better(a, b *corev1.Pod) bool {
	if x, y := unready(a) == "", unready(b) == ""; x != y {
		return x
	}
	return b.CreationTimestamp.Before(&a.CreationTimestamp)
}

// unready is why a driver cannot be asked.
func unready(p *corev1.Pod) string {
	if p.DeletionTimestamp != nil {
		return "it is being deleted"
	}
	for _, s := range p.Status.ContainerStatuses {
		switch {
		case s.Name != container || s.State.Running != nil:
		case s.State.Waiting != nil:
			return "it is waiting: " + cmp.Or(s.State.Waiting.Reason, "not started")
		default:
			return "it has ended"
		}
	}
	if p.Status.Phase != corev1.PodRunning {
		return "it is " + string(cmp.Or(p.Status.Phase, corev1.PodPending))
	}
	return ""
}

// node is how the driver in a pod is asked: with the program that it runs itself, in the
// directory that it was given.
func (n Nodes) node(p *corev1.Pod) Node {
	run := n.Run
	if run == nil {
		run = pod.Runner
	}
	one := Node{
		Name: p.Spec.NodeName, Pod: p.Name, Unready: unready(p), ask: []string{program, "serve", "ask"},
		run: run(n.Client, pod.Request{Pod: p.Name, Container: container, Server: "the driver of node " + p.Spec.NodeName}),
	}
	if n.User != "" {
		one.last = append(one.last, "--for="+n.User)
	}
	for _, c := range p.Spec.Containers {
		if c.Name != container {
			continue
		}
		if len(c.Command) > 0 {
			one.ask[0] = c.Command[0]
		}
		for _, arg := range slices.Concat(c.Command, c.Args) {
			if strings.HasPrefix(arg, "--directory=") {
				one.last = append(one.last, arg)
			}
		}
	}
	return one
}
