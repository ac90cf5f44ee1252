// Package nodes reads the nodes that pods wait on. They are in no namespace, so that few
// callers may read them; no node is read as long as pods get on, or something else says why not.
package nodes

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/watch"
)

// most is how many nodes are read of a workload: they are read one by one, and a
// few show what there is.
const most = 5

// Client gets nodes by their names.
type Client interface {
	Get(ctx context.Context, name string, opts metav1.GetOptions) (*corev1.Node, error)
}

// Awaited are the nodes to read now.
func Awaited(state watch.State, now time.Time) []string {
	names := state.AwaitedNodes(now)
	return names[:min(most, len(names))]
}

// Get gets a node; nil if it does not exist any more: its pods are about to go with it.
// Unread is the permission that the caller does not have; empty for one who has.
func Get(ctx context.Context, client Client, name string) (node *corev1.Node, unread string, err error) {
	call := kube.Call{Verb: "get", Resource: "nodes"}
	node, err = client.Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsForbidden(err):
		return nil, call.String(), nil
	case apierrors.IsNotFound(err):
		return nil, "", nil
	case err != nil:
		call.Name = name
		return nil, "", kube.Fault(err, call)
	}
	return node, "", nil
}

// Read gets the nodes that pods wait on, until one may not be read.
func Read(ctx context.Context, client Client, state watch.State, now time.Time) (found []*corev1.Node,
	unread []string, err error,
) {
	for _, name := range Awaited(state, now) {
		node, missing, err := Get(ctx, client, name)
		switch {
		case err != nil:
			return found, nil, err
		case missing != "":
			return found, []string{missing}, nil
		case node != nil:
			found = append(found, node)
		}
	}
	return found, nil, nil
}
