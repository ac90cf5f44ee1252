package follow

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/kube/transport"
)

const (
	// A watch is ended by the server after this time and opened again, and given up
	// here a little later: that is how a connection is noticed over which nothing
	// comes any more.
	watchTime  = time.Minute
	watchGrace = 10 * time.Second
	// A request must have been answered by then.
	requestTime = 30 * time.Second
	// An API server that cannot be reached at first is not waited for.
	openPatience = 10 * time.Second
	// One that has just been started refuses what it allows, until it knows its
	// roles: what had been allowed before is asked for again for this time.
	refusalPatience = 10 * time.Second

	// The pauses between attempts, longer each time.
	firstPause, longestPause = 250 * time.Millisecond, 15 * time.Second
)

// Sink takes what a source says, one change after the other.
type Sink interface {
	// Listing says that a list is about to be asked for. Replace follows with its
	// answer: what is not in it is gone.
	Listing()
	Replace(objects []runtime.Object, version string)
	Apply(change apiwatch.EventType, object runtime.Object)
	// Opened says that the watch is open, for the first time or again.
	Opened()
	// Interrupted says that a request failed and will be repeated.
	Interrupted(err error)
}

// Reflect passes on what a source says until ctx ends, or until the API server
// gives an answer that it would give again. It returns why it ended. The requests
// are client-go's reflector's, but for the first list.
func Reflect(ctx context.Context, source Source, to Sink) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	f := &feed{Source: source, to: to, stop: stop, began: time.Now()}
	backoff := wait.Backoff{Duration: firstPause, Factor: 2, Jitter: 0.5, Cap: longestPause * 2 / 3, Steps: 10}
	requests := &cache.ListWatch{ListWithContextFunc: f.list, WatchFuncWithContext: f.watch}
	reflector := cache.NewReflectorWithOptions(cache.ToListWatcherWithWatchListSemantics(requests, f), nil, store{f},
		cache.ReflectorOptions{Name: source.Resource, Backoff: &backoff})
	for pause := backoff; ctx.Err() == nil; {
		began := time.Now()
		_ = reflector.ListAndWatchWithContext(ctx) // feed has seen the error
		if time.Since(began) > watchGrace {
			pause = backoff // it was of use
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause.Step()):
		}
	}
	return context.Cause(ctx)
}

// feed makes the requests for a reflector. Its methods are called one at a time.
type feed struct {
	Source
	to   Sink
	stop context.CancelCauseFunc

	began   time.Time
	opened  bool
	failed  bool      // the first watch, which a list may help
	refused time.Time // since when, in a row
}

// IsWatchListSemanticsUnSupported keeps the reflector from asking for a list that
// it does not need.
func (f *feed) IsWatchListSemanticsUnSupported() bool { return !f.Sync }

// list answers the first time with what the caller has listed; the watch then goes
// on from there. Without such a list it begins with what there is. Either saves a
// request.
func (f *feed) list(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
	if !f.Sync && !f.opened && !f.failed {
		list := &metav1.List{ListMeta: metav1.ListMeta{ResourceVersion: f.Version}}
		for _, object := range f.Listed {
			list.Items = append(list.Items, runtime.RawExtension{Object: object})
		}
		return list, nil
	}
	if opts.Continue == "" {
		f.to.Listing()
	}
	f.choose(&opts)
	opts.ResourceVersion = "" // as things are now, not as some cache has them
	timely, cancel := context.WithTimeout(transport.Once(ctx), requestTime)
	defer cancel()
	list, err := f.Client.List(timely, opts)
	if err != nil {
		return nil, f.failure(ctx, "list", err)
	}
	return list, nil
}

func (f *feed) choose(opts *metav1.ListOptions) {
	opts.FieldSelector, opts.LabelSelector = f.Fields, f.Labels
}

func (f *feed) watch(ctx context.Context, opts metav1.ListOptions) (apiwatch.Interface, error) {
	if f.opened && opts.ResourceVersion == "" && !f.Sync {
		return nil, apierrors.NewResourceExpired("what was removed since the last watch is not known: list first")
	}
	f.choose(&opts)
	seconds := int64(watchTime.Seconds() * (0.8 + 0.2*rand.Float64()))
	opts.TimeoutSeconds = &seconds
	lasting, cancel := context.WithCancel(transport.Once(ctx))
	timely := time.AfterFunc(requestTime, cancel)
	w, err := f.Client.Watch(lasting, opts)
	if !timely.Stop() && err != nil {
		err = fmt.Errorf("no answer within %s: %w", requestTime, innermost(err))
	}
	if err != nil {
		cancel()
		if opts.SendInitialEvents != nil && apierrors.IsInvalid(err) {
			return nil, err // an API server that has no streaming lists
		}
		return nil, f.failure(ctx, "watch", err)
	}
	f.opened, f.refused = true, time.Time{}
	f.to.Opened()
	return limited{Interface: w, cancel: cancel, stalled: time.AfterFunc(watchTime+watchGrace, w.Stop)}, nil
}

// limited is a watch that ends by itself when nothing else ends it.
type limited struct {
	apiwatch.Interface
	cancel  context.CancelFunc
	stalled *time.Timer
}

// Stop ends the watch.
func (w limited) Stop() {
	w.stalled.Stop()
	w.Interface.Stop()
	w.cancel()
}

// failure decides what an error means: the reflector makes the request again,
// unless there is no point in that.
func (f *feed) failure(ctx context.Context, verb string, err error) error {
	if ctx.Err() != nil {
		return err
	}
	expired := apierrors.IsResourceExpired(err) || apierrors.IsGone(err)
	f.failed = expired || f.Version != "" // which is too old, perhaps
	call := kube.Call{Verb: verb, Resource: f.Resource, Namespace: f.Namespace}
	final := final(err, call)
	switch {
	case f.opened && f.mayPass(err):
		final = nil
	case !f.opened && final == nil && time.Since(f.began) > openPatience:
		final = fault.New(fault.Unavailable, "cannot %s: %w", call, err)
	}
	if final != nil {
		f.stop(final)
	} else if !expired {
		f.to.Interrupted(err)
	}
	return err
}

// final is the error of an answer that the API server would give again: the caller
// may not, or it does not know what is asked for. Nil for one that may pass.
func final(err error, call kube.Call) error {
	switch {
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err), apierrors.IsNotFound(err):
		return kube.Fault(err, call)
	case apierrors.IsBadRequest(err), apierrors.IsInvalid(err), apierrors.IsMethodNotSupported(err):
		return fault.New(fault.Internal, "cannot %s: %w", call, err)
	}
	return nil
}

// mayPass is true for a refusal of what was allowed a moment ago.
func (f *feed) mayPass(err error) bool {
	if !apierrors.IsForbidden(err) && !apierrors.IsUnauthorized(err) {
		f.refused = time.Time{}
		return false
	}
	if f.refused.IsZero() {
		f.refused = time.Now()
	}
	return time.Since(f.refused) < refusalPatience
}

// store receives what the reflector reads. What the source does not cover is left
// out.
type store struct{ *feed }

// Add, Update and Delete pass on a change.
func (s store) Add(object any) error    { return s.apply(apiwatch.Added, object) }
func (s store) Update(object any) error { return s.apply(apiwatch.Modified, object) }
func (s store) Delete(object any) error { return s.apply(apiwatch.Deleted, object) }

func (s store) apply(change apiwatch.EventType, object any) error {
	if o, ok := object.(runtime.Object); ok && s.covers(o) {
		s.to.Apply(change, o)
	}
	return nil
}

// Replace passes on a list, but not the empty one that list returns when the
// caller has none.
func (s store) Replace(listed []any, version string) error {
	if len(listed) == 0 && version == "" {
		return nil
	}
	var objects []runtime.Object
	for _, object := range listed {
		if o, ok := object.(runtime.Object); ok && s.covers(o) {
			objects = append(objects, o)
		}
	}
	s.to.Replace(objects, version)
	return nil
}

// Resync is for stores that repeat what they have.
func (store) Resync() error { return nil }
