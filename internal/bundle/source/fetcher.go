// Package source fetches what a bundle is made of, from wherever it is, and says what
// exactly was fetched: a file for each type of source.
package source

import (
	"context"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/bundle/content"
)

// Fetcher fetches sources.
type Fetcher struct {
	Cache  *content.Cache
	Limits content.Limits
	// Progress is told what happens, with bytes so far, and in all if that is known;
	// from one goroutine at a time. It may be nil.
	Progress func(v1.Progress)
}

// build makes content of what fill takes into a builder.
func (f Fetcher) build(ctx context.Context, fill func(*content.Builder) error) (*content.Content, error) {
	b, err := content.NewBuilder(f.Cache, f.Limits)
	if err != nil {
		return nil, err
	}
	defer b.Discard()
	if err := fill(b); err != nil {
		return nil, err
	}
	return b.Seal(ctx)
}
