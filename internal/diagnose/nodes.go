package diagnose

import (
	"context"
	"slices"
	"time"

	apiwatch "k8s.io/apimachinery/pkg/watch"

	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/watch"
	"github.com/berthdev/berth/internal/watch/nodes"
)

// withNodes adds the nodes that pods wait on. Where they may not be read, that is named, and
// the rest stands.
func (d Dump) withNodes(ctx context.Context, client kube.Interface, subject watch.Subject, now time.Time) (Dump,
	error,
) {
	state := watch.NewState(subject)
	for _, r := range d.Records {
		state = state.Apply(r.Type, r.Object)
	}
	found, unread, err := nodes.Read(ctx, client.CoreV1().Nodes(), state, now)
	d.Unread = append(slices.Clone(d.Unread), unread...)
	for _, node := range found {
		d.Records = append(slices.Clone(d.Records), watch.Record{Type: apiwatch.Added, Object: node})
	}
	return d, err
}
