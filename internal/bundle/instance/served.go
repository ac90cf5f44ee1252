package instance

import (
	"context"

	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/bundle/server"
)

// fromURL fetches content from the server of another program, with the caller's token.
func (r Reconciler) fromURL(ctx context.Context, url string) (*content.Content, error) {
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
	if err := b.Tar(ctx, archive); err != nil {
		return nil, err
	}
	return b.Seal(ctx)
}
