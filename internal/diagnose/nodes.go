package diagnose

import (
	"context"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiwatch "k8s.io/apimachinery/pkg/watch"

	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/watch"
)

// mostNodes is how many nodes are read of a workload: they are read one by one, and a
// few show what there is.
const mostNodes = 5

// withNodes adds the nodes that pods wait on. Few callers may read nodes; what they say is
// then missing, and is named, but the rest stands.
func (d Dump) withNodes(ctx context.Context, client kube.Interface, subject watch.Subject, now time.Time) (Dump, error) {
	state := watch.NewState(subject)
	for _, r := range d.Records {
		state = state.Apply(r.Type, r.Object)
	}
	names := state.AwaitedNodes(now)
	for _, name := range names[:min(mostNodes, len(names))] {
		node, err := client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		switch {
		case apierrors.IsForbidden(err):
			d.Unread = append(slices.Clone(d.Unread), kube.Call{Verb: "get", Resource: "nodes"}.String())
			return d, nil
		case apierrors.IsNotFound(err):
			continue // the pod is about to go with it
		case err != nil:
			return d, kube.Fault(err, kube.Call{Verb: "get", Resource: "nodes", Name: name})
		}
		d.Records = append(slices.Clone(d.Records), watch.Record{Type: apiwatch.Added, Object: node})
	}
	return d, nil
}
