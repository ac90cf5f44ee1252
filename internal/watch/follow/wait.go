package follow

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/berthdev/berth/internal/watch"
)

// Until waits for a state that is what the caller waits for. It looks at the
// newest state only.
func (f *Follower) Until(ctx context.Context, reached func(watch.State) bool) error {
	return f.until(ctx, reached, nil, nil)
}

// until also looks at the state each time that a clock ticks.
func (f *Follower) until(ctx context.Context, reached func(watch.State) bool, tick <-chan time.Time,
	look func(watch.State),
) error {
	for {
		f.mu.Lock()
		state, err, changed := f.state, f.err, f.changed
		f.pending = nil
		f.mu.Unlock()
		switch {
		case reached(state):
			return nil
		case err != nil:
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick:
			look(state)
		case <-changed:
		}
	}
}

// appearTime is how long an existing pod may take to appear in a watch that has
// just been opened.
const appearTime = time.Second

// WaitGone waits until the pod with this UID is gone: what has to be done before
// another of its name can be made.
func (f *Follower) WaitGone(ctx context.Context, uid types.UID) error {
	look := time.NewTicker(appearTime)
	defer look.Stop()
	gone := func(s watch.State) bool { return s.IsGone(uid) }
	return f.until(ctx, gone, look.C, func(s watch.State) {
		if !s.Has(uid) {
			f.look(ctx, uid)
		}
	})
}

// look lists the pods if this one has never been seen: it may have been removed
// before the watch was open, and a watch does not say so. If that fails, there is
// another time.
func (f *Follower) look(ctx context.Context, uid types.UID) {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	for _, in := range f.inputs {
		if !in.pods {
			continue
		}
		if objects, version, err := in.source.list(ctx); err == nil {
			f.replace(objects, version, in.source.Covers, []types.UID{uid})
		}
	}
}

// clusterTime is this machine's clock, put forward if it is behind the
// cluster's: a delay counts from a time that the cluster gave, and a laptop that
// is a minute late would notice a minute late. Nothing is seen before it
// happens, so an object of the future shows it. (A clock that is ahead looks
// like an old object; it shortens the delays.)
func (f *Follower) clusterTime(n news, now func() time.Time) func() time.Time {
	for _, s := range n.states {
		f.behind = max(f.behind, s.Newest().Sub(now()))
	}
	behind := f.behind
	return func() time.Time { return now().Add(behind) }
}
