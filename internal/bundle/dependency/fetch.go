package dependency

import (
	"context"
	"net/url"
	"strings"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/bundle/format"
	"github.com/berthdev/berth/internal/bundle/source"
	"github.com/berthdev/berth/internal/fault"
)

// fetch fetches a chart of a repository or of a registry, each once.
func (g *gathering) fetch(ctx context.Context, w wanted) (*node, error) {
	w.within = "" // is for the caller
	c := g.fetched[w]
	if c == nil {
		s, err := sourceOf(w)
		if err != nil {
			return nil, err
		}
		f, err := g.spent.bound(g.fetcher)
		if err != nil {
			return nil, err
		}
		c, _, err = f.Fetch(ctx, s)
		if at := source.InRegistry(err); at != nil { // as for helm, the index of a repository may lead there
			c, _, err = f.Fetch(ctx, v1alpha1.Source{Type: v1alpha1.SourceImage, Image: at})
		}
		if err != nil {
			return nil, err
		}
		g.spent.add(c)
		g.fetched[w] = c
	}
	dir, err := format.ChartDir(c.FS())
	if err != nil {
		return nil, notAChart(err)
	}
	child := &node{files: c.FS(), dir: dir, of: c.Digest}
	if child.chart, err = describe(ctx, child, g.left); err != nil {
		return nil, notAChart(err)
	}
	return child, nil
}

// sourceOf is a dependency as a source of its own.
func sourceOf(w wanted) (s v1alpha1.Source, _ error) {
	address, err := url.Parse(w.repository)
	if err != nil || address.Host == "" || address.User != nil {
		return s, fault.New(fault.InvalidArgument, "its repository is not the URL of one, without a login in it").
			WithHint("write https://HOST/PATH or oci://HOST/PATH")
	}
	if address.Scheme == "oci" {
		if address.RawQuery != "" || address.Fragment != "" {
			return s, fault.New(fault.InvalidArgument, "its repository has a part after ? or #").
				WithHint("write oci://HOST/PATH")
		}
		ref := strings.TrimSuffix(strings.TrimPrefix(w.repository, "oci://"), "/") + "/" + w.name
		return v1alpha1.Source{
			Type: v1alpha1.SourceImage, Image: &v1alpha1.ImageSource{Ref: ref, Version: w.version},
		}, nil
	}
	return v1alpha1.Source{Type: v1alpha1.SourceChart, Chart: &v1alpha1.ChartSource{
		Repository: w.repository, Name: w.name, Version: w.version,
	}}, nil
}

// spent is what has been fetched: all dependencies together are bounded as any content is.
type spent struct {
	came     int64            // bytes
	now      map[string]int64 // bytes of what is being fetched
	unpacked int64
	files    int
}

// bound is a fetcher for what may still be fetched, and counts what comes.
func (s *spent) bound(f source.Fetcher) (source.Fetcher, error) {
	most := f.Limits
	for _, bytes := range s.now {
		s.came += bytes
	}
	s.now = map[string]int64{}
	f.Limits.Compressed -= s.came
	f.Limits.Unpacked -= s.unpacked
	f.Limits.Files -= s.files
	if f.Limits.Compressed <= 0 || f.Limits.Unpacked <= 0 || f.Limits.Files <= 0 {
		return f, fault.New(fault.InvalidArgument, "what the chart depends on has more than %d MiB (%d MiB unpacked) "+
			"or %d files together", most.Compressed>>20, most.Unpacked>>20, most.Files).
			WithReason(content.ReasonTooLarge).WithHint("leave out what does not belong to the bundle")
	}
	tell := f.Progress
	f.Progress = func(p v1.Progress) {
		s.now[p.Message] = max(s.now[p.Message], p.Done)
		if tell != nil {
			tell(p)
		}
	}
	return f, nil
}

// add counts what was fetched.
func (s *spent) add(c *content.Content) {
	s.unpacked += c.Size
	s.files += c.Files
}
