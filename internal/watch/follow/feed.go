package follow

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	apiwatch "k8s.io/apimachinery/pkg/watch"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/watch"
)

const (
	// A watch is ended by the server after this time and begun anew, and given up
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

	firstPause, longestPause = 250 * time.Millisecond, 15 * time.Second
)

// feed keeps one source's watch open and passes on what it says.
type feed struct {
	Source
	to     *Follower
	relist chan struct{} // for the source of pods: asks for a list

	version  string    // where the watch begins
	listing  bool      // list first
	verb     string    // of the request made last
	failures int       // in a row
	refused  time.Time // since when, in a row
}

// run watches until ctx ends or there is no point in going on. Once the watch is
// open for the first time, or cannot be, it says so on opened.
func (f *feed) run(ctx context.Context, opened chan<- error) {
	began, announced := time.Now(), false
	for {
		err := f.attempt(ctx, func() {
			f.to.restored(f)
			if !announced {
				announced = true
				opened <- nil
			}
		})
		final := f.final(err)
		switch {
		case ctx.Err() != nil:
			final = ctx.Err()
		case final == nil && !announced && time.Since(began) > openPatience:
			final = f.fault(fault.Unavailable, err)
		case announced && f.mayPass(final):
			final = nil
		}
		if final != nil {
			f.end(final, announced, opened)
			return
		}
		f.retry(ctx, err)
	}
}

// mayPass is true for a refusal of what was allowed a moment ago.
func (f *feed) mayPass(final error) bool {
	if code := fault.CodeOf(final); code != fault.PermissionDenied && code != fault.Unauthenticated {
		f.refused = time.Time{}
		return false
	}
	if f.refused.IsZero() {
		f.refused = time.Now()
	}
	return time.Since(f.refused) < refusalPatience
}

// end says why there will be no more: to Open, or to who follows.
func (f *feed) end(final error, announced bool, opened chan<- error) {
	if announced {
		f.to.fail(final)
	} else {
		opened <- final
	}
}

// attempt lists if need be and watches until the watch ends. Without an error
// it ended in good order.
func (f *feed) attempt(ctx context.Context, open func()) error {
	if f.listing {
		if err := f.list(ctx); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	timely := time.AfterFunc(requestTime, cancel)
	opts := f.options()
	opts.ResourceVersion = f.version
	opts.AllowWatchBookmarks = true
	seconds := int64(watchTime.Seconds() * (0.8 + 0.2*rand.Float64()))
	opts.TimeoutSeconds = &seconds
	f.verb = "watch"
	w, err := f.Client.Watch(ctx, opts)
	if !timely.Stop() && err != nil {
		err = fmt.Errorf("no answer within %s: %w", requestTime, err)
	}
	if err != nil {
		f.listing = f.listing || f.version != "" // too old, perhaps
		return err
	}
	defer w.Stop()
	open()
	f.listing = true // whatever ends this watch
	began := time.Now()
	err = f.drain(ctx, w)
	if time.Since(began) > watchGrace {
		f.failures = 0 // it was of use
	}
	return err
}

// list says what there is now: what is not listed is gone.
func (f *feed) list(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	var sought []types.UID
	if f.relist != nil {
		sought = f.to.soughtNow()
	}
	f.verb = "list"
	list, err := f.Client.List(ctx, f.options())
	if err != nil {
		return err
	}
	items, err := meta.ExtractList(list)
	if err != nil {
		return err
	}
	at, err := meta.ListAccessor(list)
	if err != nil {
		return err
	}
	f.version = at.GetResourceVersion()
	items = slices.DeleteFunc(items, func(o runtime.Object) bool { return !f.covers(o) })
	f.to.replace(items, f.version, f.Covers, sought)
	return nil
}

func (f *feed) covers(obj runtime.Object) bool {
	o, err := meta.Accessor(obj)
	return err == nil && f.Covers(o)
}

// drain passes on what the watch says until it ends.
func (f *feed) drain(ctx context.Context, w apiwatch.Interface) error {
	stalled := time.NewTimer(watchTime + watchGrace)
	defer stalled.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-stalled.C:
			return fmt.Errorf("nothing came for %s", watchTime+watchGrace)
		case <-f.relist:
			return nil
		case change, ok := <-w.ResultChan():
			switch {
			case !ok:
				return nil
			case change.Type == apiwatch.Error:
				return apierrors.FromObject(change.Object)
			}
			if f.covers(change.Object) {
				f.to.change(func(s watch.State) watch.State { return s.Apply(change.Type, change.Object) })
			}
		}
	}
}

// retry pauses before the next attempt, longer each time that nothing came of it.
// A watch that is too old is replaced at once.
func (f *feed) retry(ctx context.Context, err error) {
	expired := apierrors.IsResourceExpired(err) || apierrors.IsGone(err)
	if expired {
		f.listing = true
	}
	f.failures++
	if f.failures == 1 && (err == nil || expired) {
		return
	}
	if err != nil && !expired {
		f.to.interrupted(f, err)
	}
	pause := min(longestPause, firstPause<<min(f.failures-1, 10))
	select {
	case <-ctx.Done():
	case <-time.After(pause/2 + rand.N(pause/2)):
	}
}
