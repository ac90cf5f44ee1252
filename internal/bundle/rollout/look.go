package rollout

import (
	"context"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	apiwatch "k8s.io/apimachinery/pkg/watch"

	"github.com/berthdev/berth/internal/apply/health"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/follow"
)

// Looker looks behind workloads that are not as they should be.
type Looker struct {
	// Client is the identity that has installed them.
	Client kube.Interface
	Policy cause.Policy
	Now    func() time.Time
}

// Look reads once what is around the workloads that are not Current: a list for each kind in a
// namespace; nothing if all of them are. Unseen is what keeps causes from being seen, each a line.
func (l Looker) Look(ctx context.Context, readings []health.Reading) (explained []health.Reading, unseen []string) {
	explained = slices.Clone(readings)
	var mu sync.Mutex
	known := map[string]*around{}
	group, listing := errgroup.WithContext(ctx)
	for _, at := range scopes(readings) {
		group.Go(func() error {
			found, err := list(listing, source(l.Client, at, workloadsOf(readings)))
			mu.Lock()
			defer mu.Unlock()
			if known[at.namespace] == nil {
				known[at.namespace] = &around{}
			}
			known[at.namespace].add(at.resource, found, err)
			if err != nil && ctx.Err() == nil {
				unseen = append(unseen, unseenText(err))
			}
			return nil
		})
	}
	_ = group.Wait() // none fails
	for i, r := range explained {
		if n := known[r.Object.GetNamespace()]; n != nil && n.pods {
			explained[i], _ = Analyze(r, n.objects, l.Policy, l.Now())
		}
	}
	slices.Sort(unseen)
	return explained, slices.Compact(unseen)
}

// around is what was read of a namespace.
type around struct {
	objects []runtime.Object
	pods    bool // they are among them: without them nothing is known
}

func (a *around) add(resource string, found []runtime.Object, err error) {
	a.objects = append(a.objects, found...)
	a.pods = a.pods || resource == pods && err == nil
}

// list lists what a source covers.
func list(ctx context.Context, s follow.Source) (found []runtime.Object, err error) {
	answer, err := s.Client.List(ctx, metav1.ListOptions{})
	if err == nil {
		found, err = meta.ExtractList(answer)
	}
	if err != nil {
		return nil, kube.Fault(err, kube.Call{Verb: "list", Resource: s.Resource, Namespace: s.Namespace})
	}
	return slices.DeleteFunc(found, func(object runtime.Object) bool {
		o, err := meta.Accessor(object)
		return err != nil || !s.Covers(o)
	}), nil
}

// unseenText says that something could not be read, and what is missing without it.
func unseenText(err error) string {
	return "what keeps pods from running is not seen in full: " + fault.From(err).Message
}

// input is one watch of a Follower.
type input struct {
	*Follower
	stop     context.CancelFunc
	isOpen   bool // it has not ended
	isListed bool // it is known what there is
	objects  map[types.UID]runtime.Object
}

// ended takes the end of the watch. Of what may not be read, nothing is claimed any more.
func (in *input) ended(ctx context.Context, err error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.isOpen, in.objects = false, nil
	if ctx.Err() == nil && !in.noted {
		in.noted = true
		in.note(unseenText(err))
	}
	in.signal()
}

// Replace takes a list: what is not in it is gone.
func (in *input) Replace(objects []runtime.Object, _ string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.objects, in.isListed = map[types.UID]runtime.Object{}, true
	for _, object := range objects {
		in.put(apiwatch.Added, object)
	}
	in.signal()
}

// Apply takes a change.
func (in *input) Apply(change apiwatch.EventType, object runtime.Object) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.put(change, object)
	in.signal()
}

// put notes an object; the lock is held.
func (in *input) put(change apiwatch.EventType, object runtime.Object) {
	o, err := meta.Accessor(object)
	switch {
	case err != nil: // a bookmark
	case change == apiwatch.Deleted:
		delete(in.objects, o.GetUID())
	default:
		in.objects[o.GetUID()] = object
	}
}

// Listing, Opened and Interrupted are of no interest: a watch that is interrupted is opened
// again.
func (*input) Listing()          {}
func (*input) Opened()           {}
func (*input) Interrupted(error) {}
