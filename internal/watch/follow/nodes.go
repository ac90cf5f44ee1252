package follow

import (
	"context"
	"time"

	apiwatch "k8s.io/apimachinery/pkg/watch"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube/transport"
	"github.com/berthdev/berth/internal/watch/nodes"
)

// How often a node is read that a pod waits on, and how long that may take. A watch of
// nodes would take a permission that even fewer have.
const (
	nodeEvery = 15 * time.Second
	nodeTime  = 5 * time.Second
)

// nodeReading is what is known of reading nodes.
type nodeReading struct {
	client  nodes.Client         // nil if they are not read, or not any more
	asked   map[string]time.Time // when for each; Run's alone
	notices []v1.Progress        // not handed out yet
}

// ReadNodes lets the follower read the nodes that pods wait on, as long as they do. That one
// may not be read ends it, and is a notice. It is to be called before Run.
func (f *Follower) ReadNodes(client nodes.Client) {
	f.nodes = nodeReading{client: client, asked: map[string]time.Time{}}
}

// askForNodes asks for those that are due, and says when to look again: by then, or when
// the next of them is due.
func (f *Follower) askForNodes(ctx context.Context, now, next time.Time) time.Time {
	f.mu.Lock()
	state, client := f.state, f.nodes.client
	f.mu.Unlock()
	if client == nil {
		return next
	}
	for _, name := range nodes.Awaited(state, now) {
		if now.Sub(f.nodes.asked[name]) >= nodeEvery {
			f.nodes.asked[name] = now
			f.group.Go(func() { f.askForNode(ctx, client, name) })
		}
		if due := f.nodes.asked[name].Add(nodeEvery); next.IsZero() || due.Before(next) {
			next = due
		}
	}
	return next
}

// askForNode asks for one. What fails for another reason than a permission is tried again.
func (f *Follower) askForNode(ctx context.Context, client nodes.Client, name string) {
	ctx, cancel := context.WithTimeout(transport.Once(ctx), nodeTime)
	defer cancel()
	node, unread, err := nodes.Get(ctx, client, name)
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case unread != "" && f.nodes.client != nil:
		f.nodes.client = nil
		f.nodes.notices = append(f.nodes.notices,
			v1.Progress{Message: "how node " + name + " is cannot be seen without permission to " + unread})
		f.signal()
	case err == nil && node != nil:
		f.push(f.state.Apply(apiwatch.Modified, node))
	}
}
