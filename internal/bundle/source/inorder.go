package source

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// parallel is how many objects are under way at once, each of which may have a MiB.
const parallel = 4

// inOrder gets n things, a few at once, and hands them over one at a time in their
// order.
func inOrder[T any](ctx context.Context, n int, get func(context.Context, int) (T, error),
	use func(int, T) error,
) error {
	group, inner := errgroup.WithContext(ctx)
	results := make([]chan T, n)
	start := func(i int) {
		if i >= n {
			return
		}
		result := make(chan T, 1)
		results[i] = result
		group.Go(func() error {
			got, err := get(inner, i)
			if err == nil {
				result <- got
			}
			return err
		})
	}
	for i := range parallel {
		start(i)
	}
	for i := range n {
		select {
		case got := <-results[i]:
			results[i] = nil
			if err := use(i, got); err != nil {
				group.Go(func() error { return err })
				return group.Wait()
			}
			start(i + parallel)
		case <-inner.Done():
			if err := group.Wait(); err != nil {
				return err
			}
			return ctx.Err()
		}
	}
	return group.Wait()
}
