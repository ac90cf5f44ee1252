package follow

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	apiwatch "k8s.io/apimachinery/pkg/watch"

	"github.com/berthdev/berth/internal/watch"
)

// Begin makes this version of the subject, a workload that has just been
// written, the one that counts. What was said before it is of the revision
// before, and nobody is told.
func (f *Follower) Begin(workload runtime.Object) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pending = nil
	f.push(f.state.Apply(apiwatch.Modified, workload))
}

// Until waits for a state that is what the caller waits for. It looks at the
// newest state only.
func (f *Follower) Until(ctx context.Context, reached func(watch.State) bool) error {
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
		case <-changed:
		}
	}
}
