package observe

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/metadata"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/watch/follow"
)

const (
	// selector selects what instances have installed.
	selector = v1alpha1.LabelOwnerKind + "=" + v1alpha1.KindInstance
	// askAgain is how long after a refusal it is asked again, with the next pass of an instance that wants it.
	askAgain = 10 * time.Minute
	// pause is how long an API server is left alone that cannot be reached.
	pause = 5 * time.Second
)

// input is one watch.
type input struct {
	place
	watches *Watches
	client  func() (metadata.Interface, error)
	stop    context.CancelFunc

	// The lock of watches is held for these.
	users  map[string]bool // the instances that want it
	known  map[types.NamespacedName]mark
	synced bool
	err    error // why it has ended; nil while it goes on
	at     time.Time
	said   bool
}

// mayReopen is true for a watch that has ended, and could go on now.
func (in *input) mayReopen(now time.Time) bool {
	return in.err != nil && (fault.CodeOf(in.err) == fault.NotFound || now.Sub(in.at) > askAgain)
}

// run watches until ctx ends, or until the API server gives an answer that it would give again.
func (in *input) run(ctx context.Context) {
	for ctx.Err() == nil {
		err := in.follow(ctx)
		if ctx.Err() != nil || in.ended(err) {
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

func (in *input) follow(ctx context.Context) error {
	client, err := in.client()
	if err != nil {
		return err
	}
	return follow.Reflect(ctx, follow.Source{
		Client:   follow.Client(client.Resource(in.GroupVersionResource).Namespace(in.Namespace)),
		Resource: in.GroupResource().String(), Namespace: in.Namespace, Labels: selector,
		Covers: func(metav1.Object) bool { return true }, Sync: true,
	}, in)
}

// ended notes why a watch has ended, and says whether that is for good. A kind that is gone comes back with a pass that
// finds it.
func (in *input) ended(err error) bool {
	w := in.watches
	w.mu.Lock()
	defer w.mu.Unlock()
	in.known, in.synced = nil, false
	switch fault.CodeOf(err) {
	case fault.Unavailable, fault.DeadlineExceeded:
		return false
	case fault.NotFound:
	default:
		w.refused(in, err)
	}
	in.err, in.at = err, time.Now()
	return true
}

// Replace takes a list. What has become of objects before the first one is not known: their instances are looked at.
func (in *input) Replace(objects []runtime.Object, _ string) {
	w := in.watches
	w.mu.Lock()
	defer w.mu.Unlock()
	before := in.known
	in.known = map[types.NamespacedName]mark{}
	for _, object := range objects {
		o, ok := object.(metav1.Object)
		if !ok {
			continue
		}
		at := nameOf(o)
		now := markOf(o)
		if old, was := before[at]; was {
			in.tell(changeOf(&old, &now))
		}
		in.known[at] = now
		delete(before, at)
	}
	for _, old := range before {
		in.tell(changeOf(&old, nil))
	}
	if !in.synced {
		in.synced = true
		for instance := range in.users {
			in.tell(status, instance)
		}
	}
}

// Apply takes a change.
func (in *input) Apply(kind watch.EventType, object runtime.Object) {
	o, ok := object.(metav1.Object)
	if !ok {
		return
	}
	w := in.watches
	w.mu.Lock()
	defer w.mu.Unlock()
	if in.known == nil {
		in.known = map[types.NamespacedName]mark{}
	}
	at := nameOf(o)
	var before, now *mark
	if old, was := in.known[at]; was {
		before = &old
	}
	if kind == watch.Deleted {
		delete(in.known, at)
	} else {
		m := markOf(o)
		now, in.known[at] = &m, m
	}
	in.tell(changeOf(before, now))
}

// tell says it of an instance that wants this watch; the lock is held.
func (in *input) tell(c change, instance string) {
	if in.watches.inputs[in.place] == in && in.users[instance] {
		in.watches.tell(instance, c)
	}
}

func nameOf(o metav1.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}
}

// Listing, Opened and Interrupted are of no interest: a watch that is interrupted is opened again.
func (*input) Listing() {}

func (*input) Opened() {}

func (*input) Interrupted(error) {}
