package follow

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// appearTime is how long a pod that exists may take to be told by a watch that
// has just been opened.
const appearTime = time.Second

// WaitGone waits until the pod with this UID is gone: what has to be done before
// another of its name can be made.
func (f *Follower) WaitGone(ctx context.Context, uid types.UID) error {
	look := time.NewTimer(appearTime)
	defer look.Stop()
	for {
		f.mu.Lock()
		gone, err, changed := f.state.IsGone(uid), f.err, f.changed
		f.mu.Unlock()
		switch {
		case gone:
			return nil
		case err != nil:
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-look.C:
			f.look(uid)
		case <-changed:
		}
	}
}

// look lists the pods again if this one has never been seen: it may have gone
// before the watch was open, of which a watch says nothing.
func (f *Follower) look(uid types.UID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sought[uid] = true
	if f.state.Has(uid) || f.state.IsGone(uid) {
		return
	}
	select {
	case f.relist <- struct{}{}:
	default:
	}
}
