// Package nodes asks the drivers of scratch volumes of all nodes, by running a command
// in their pods: anyone who may do that may do anything with the volumes.
package nodes

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/exec"
	"github.com/berthdev/berth/internal/exec/pod"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/volume"
	"github.com/berthdev/berth/internal/volume/admin"
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

// List finds the nodes that have a driver, in the order of their names: only the one of this name if it is not empty.
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

// node is how the driver in a pod is asked: with the program that it runs itself, in the directory that it was given.
func (n Nodes) node(p *corev1.Pod) Node {
	run := n.Run
	if run == nil {
		run = pod.Runner
	}
	one := Node{
		Name: p.Spec.NodeName, Pod: p.Name, Unready: unready(p), ask: []string{program, "serve", "ask"},
		run: run(n.Client, pod.Request{
			Pod: p.Name, Container: container, Server: "the driver of node " + p.Spec.NodeName,
		}),
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

const (
	// maxPicture is how much of a node's list is read, in bytes: a hundred thousand volumes.
	maxPicture = 64 << 20
	// maxComplaints is how much is kept of what a driver complains.
	maxComplaints = 64 << 10
	// atOnce is how many nodes are asked at once.
	atOnce = 16
)

var _ volume.Node = Node{}

// Picture lists what is in its afterlife.
func (n Node) Picture(ctx context.Context) (picture volume.Picture, err error) {
	out := exec.Beginning{Max: maxPicture}
	if err := n.do(ctx, &out, "list"); err != nil {
		return picture, err
	}
	if err := json.Unmarshal([]byte(out.String()), &picture); err != nil {
		return picture, fault.New(fault.Failed, "the list of node %s cannot be read", n.Name).
			WithHint("berth there may be of another version: see its pod %s", n.Pod)
	}
	picture.Node = n.Name // whatever it says
	return picture, nil
}

// Archive writes the files of a volume as a tar stream.
func (n Node) Archive(ctx context.Context, id string, to io.Writer) error {
	return n.do(ctx, to, "archive", id)
}

// Purge removes a volume now.
func (n Node) Purge(ctx context.Context, id string) error { return n.do(ctx, io.Discard, "purge", id) }

// do runs a command in the driver's pod.
func (n Node) do(ctx context.Context, out io.Writer, words ...string) error {
	if n.Unready != "" {
		return fault.New(fault.Unavailable, "the driver of node %s cannot be asked: %s", n.Name, n.Unready).
			WithHint("see its pod %s", n.Pod)
	}
	stderr := exec.Beginning{Max: maxComplaints}
	status, err := n.run(ctx, slices.Concat(n.ask, n.last, []string{"--"}, words),
		exec.Session{Stdout: out, Stderr: &stderr})
	switch {
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return err
	case status == 0:
		return nil
	}
	if failure := admin.ParseFailure(lastLine(stderr.String())); failure != nil {
		return failure
	}
	return fault.New(fault.Failed, "the driver of node %s ends with status %d: %s", n.Name, status,
		strings.TrimSpace(stderr.String())).
		WithHint("berth there may be of another version: see its pod %s", n.Pod)
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// Answer is what a node says.
type Answer struct {
	Node    Node
	Picture volume.Picture
	Err     error
}

// Ask asks nodes side by side, each for a time. The answers are in the order of the nodes.
func Ask(ctx context.Context, all []Node, each time.Duration) []Answer {
	answers := make([]Answer, len(all))
	var group errgroup.Group
	group.SetLimit(atOnce)
	for i, n := range all {
		group.Go(func() error {
			answers[i].Node = n
			late := fault.New(fault.Unavailable, "node %s does not answer within %s", n.Name, each)
			ctx, cancel := context.WithTimeoutCause(ctx, each, late)
			defer cancel()
			answers[i].Picture, answers[i].Err = n.Picture(ctx)
			return nil
		})
	}
	_ = group.Wait()
	return answers
}
