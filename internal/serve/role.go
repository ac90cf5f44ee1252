package serve

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// Role serves, and works beside that, until ctx ends or the server cannot go on. Open
// requests are let go on while the work ends.
func Role(ctx context.Context, c Config, work func(ctx context.Context) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return Run(ctx, c) })
	group.Go(func() error { return work(ctx) })
	return group.Wait()
}
