package instance

import (
	"context"

	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/bundle/server"
	"github.com/berthdev/berth/internal/bundle/source"
)

// fromURL fetches content from the server of another program, with the caller's token.
func (r Reconciler) fromURL(ctx context.Context, url string) (c *content.Content, err error) {
	err = source.Within(ctx, r.Fetcher.Time, "the content at "+url, func(ctx context.Context) error {
		c, err = r.download(ctx, url)
		return err
	})
	return c, err
}

func (r Reconciler) download(ctx context.Context, url string) (*content.Content, error) {
	limits := r.Fetcher.Limits
	// The builder is the first to find it too large, and says so.
	archive, err := server.Client{Config: r.Own.Config, Trust: r.Trust}.Fetch(ctx, url, limits.Compressed+1<<20)
	if err != nil {
		return nil, err
	}
	defer archive.Close()
	b, err := content.NewBuilder(r.Fetcher.Cache, limits)
	if err != nil {
		return nil, err
	}
	defer b.Discard()
	if err := b.Tar(ctx, r.Fetcher.Watch("Fetching the content", archive, 0)); err != nil {
		return nil, err
	}
	return b.Seal(ctx)
}
