// Package dependency fetches the charts that a chart depends on and does not have in charts/, as `helm dependency
// build` does, and makes them a part of its content: what is pinned, installed and served is the whole.
package dependency

import (
	"context"
	"io"
	"strings"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/bundle/format"
	"github.com/berthdev/berth/internal/bundle/source"
	"github.com/berthdev/berth/internal/chart"
	"github.com/berthdev/berth/internal/fault"
)

// Pinned are versions of what a chart depends on, as PATH VERSION. Each is taken where no lock says another one and the
// range has it.
type Pinned []string

// version is the pinned version of a chart, by the names of the charts that it is in; empty if it is not pinned.
func (p Pinned) version(chain []*node, name, within string) string {
	at := name
	for i := len(chain) - 1; i > 0; i-- {
		at = chain[i].chart.meta.Name + "/" + at
	}
	for _, pin := range p {
		path, version, _ := strings.Cut(pin, " ")
		if path == at && chart.InRange(within, version) {
			return version
		}
	}
	return ""
}

// Fetch fetches a source, and what the chart that it may be depends on. What the source is resolved to is about the
// source alone, and the digest of the content about all of it.
func Fetch(ctx context.Context, f source.Fetcher, s v1alpha1.Source) (*content.Content, v1alpha1.Source, error) {
	return Pinned(nil).Fetch(ctx, f, s)
}

// Fetch is Fetch with the versions that are pinned.
func (p Pinned) Fetch(ctx context.Context, f source.Fetcher, s v1alpha1.Source) (*content.Content, v1alpha1.Source,
	error,
) {
	var commit source.Commit
	f.Commit = &commit
	defer commit.Close()
	c, resolved, err := f.Fetch(ctx, s)
	if err != nil || s.Type == v1alpha1.SourceUpload { // which is whole: it was made by Local
		return c, resolved, err
	}
	c, err = p.complete(ctx, f.Beside(s), c, aroundIn(&commit, resolved))
	return c, resolved, err
}

// Local makes content of what is on this machine, as source.Fetcher does, and fetches what the chart that it may be
// depends on.
func Local(ctx context.Context, f source.Fetcher, path string, stdin io.Reader) (*content.Content, error) {
	c, err := f.Local(ctx, path, stdin)
	if err != nil {
		return nil, err
	}
	a, err := aroundOf(path)
	if err != nil {
		_ = c.Close()
		return nil, err
	}
	defer a.close()
	return Pinned(nil).complete(ctx, f, c, a)
}

// complete is content with all that its chart depends on, of which some may be around it; it is the same content if
// nothing is missing. The content is closed if that is not what is given back.
func (p Pinned) complete(ctx context.Context, f source.Fetcher, c *content.Content, a *around) (whole *content.Content,
	err error,
) {
	dir := chartIn(c)
	if dir == "" {
		return c, nil
	}
	err = source.Within(ctx, f.Time, "what the chart depends on", func(ctx context.Context) (err error) {
		root, left := &node{files: c.FS(), dir: dir, of: c.Digest, local: true, around: a}, int64(maxInflated)
		if a != nil {
			root.base = a.dir
		}
		root.chart, err = describe(ctx, root, &left)
		if fault.ReasonOf(err) == content.ReasonTooLarge {
			return err
		}
		if err != nil || root.chart.isWhole() {
			whole = c
			return ctx.Err() // what else is wrong with it is said by what reads it
		}
		g := newGathering(f, &left)
		g.pinned = p
		defer g.close()
		if err = g.gather(ctx, root); err == nil {
			whole, err = g.build(ctx, root)
		}
		return err
	})
	if err != nil {
		whole = nil
	}
	if whole != c {
		if whole != nil {
			whole.SignedBy = c.SignedBy
		}
		_ = c.Close()
	}
	return whole, err
}

// chartIn is the directory of the one chart that content is; empty for anything else, of which is said what it is by
// what reads it.
func chartIn(c *content.Content) string {
	of, err := format.Recognize(c.FS())
	if err != nil || of != format.Helm {
		return ""
	}
	dir, err := format.ChartDir(c.FS())
	if err != nil {
		return ""
	}
	return dir
}
