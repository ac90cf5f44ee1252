package dependency

import (
	"context"
	"errors"
	"io/fs"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/bundle/source"
	"github.com/berthdev/berth/internal/chart"
	"github.com/berthdev/berth/internal/fault"
)

// The limits of a chart with all that it depends on, beside those of content.
const (
	maxCharts = 100
	maxDepth  = 10
)

// node is a chart of the tree.
type node struct {
	files fs.FS  // of the content that it is in
	dir   string // in there
	of    string // the digest of that content
	local bool   // it is a directory, as a developer has it
	chart *description
	below []*node // that come into its charts/

	around *around // nil if nothing is
	base   string  // of the content, in what is around it
}

// into is the directory of the chart in charts/.
func (n *node) into() string { return n.chart.meta.Name + "-" + n.chart.meta.Version }

// is says whether two nodes are the same chart.
func (n *node) is(other *node) bool { return n.of == other.of && n.dir == other.dir }

// gathering fetches what one chart depends on.
type gathering struct {
	fetcher  source.Fetcher
	charts   int // so far
	spent    spent
	left     *int64 // of maxInflated
	fetched  map[wanted]*content.Content
	problems []*fault.Error
	pinned   Pinned
}

func newGathering(f source.Fetcher, left *int64) *gathering {
	f.Indexes, f.Time = &source.Indexes{}, 0 // all of it has one time
	return &gathering{fetcher: f, left: left, fetched: map[wanted]*content.Content{}}
}

// close lets go of what was fetched.
func (g *gathering) close() {
	g.fetcher.Indexes.Close()
	for _, c := range g.fetched {
		_ = c.Close()
	}
}

// gather finds what a chart depends on, and what that does. The error has all that cannot be had.
func (g *gathering) gather(ctx context.Context, root *node) error {
	if err := g.below(ctx, []*node{root}); err != nil {
		return err
	}
	switch len(g.problems) {
	case 0:
		return nil
	case 1:
		return g.problems[0]
	}
	first := g.problems[0]
	all := fault.New(first.Code, "chart %s lacks %d charts that it depends on, and that cannot be fetched; the "+
		"first: %w", root.chart.meta.Name, len(g.problems), first).WithReason(first.Reason).WithHint("%s", first.Hint)
	for _, problem := range g.problems {
		all.Problems = append(all.Problems, problem.Message)
	}
	return all
}

// below finds what the last chart of a chain depends on, and keeps what is wrong; an error ends all of it.
func (g *gathering) below(ctx context.Context, chain []*node) error {
	n := chain[len(chain)-1]
	all, err := n.chart.wanted(g.fetcher.RepositoryNamed)
	if err != nil {
		g.problems = append(g.problems, fault.From(err))
		return nil
	}
	if g.charts += len(all); g.charts > maxCharts {
		return fault.New(fault.InvalidArgument, "chart %s depends on more than %d charts that are not in it",
			chain[0].chart.meta.Name, maxCharts).WithReason(content.ReasonTooLarge).
			WithHint("put them into it: run `helm dependency build` before it is packed")
	}
	for _, w := range all {
		if pin := g.pinned.version(chain, w.name, w.within); pin != "" && n.chart.lock == nil {
			w.version = pin
		}
		child, err := g.find(ctx, n, w)
		if err == nil {
			err = check(chain, child, w)
		}
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			g.problems = append(g.problems, about(n, w, err))
			continue
		case slices.ContainsFunc(n.below, child.is): // under another alias
			continue
		}
		n.below = append(n.below, child)
		if child.chart.isWhole() {
			continue
		}
		if err := g.below(ctx, append(slices.Clip(chain), child)); err != nil {
			return err
		}
	}
	return nil
}

// about is the error of a dependency.
func about(n *node, w wanted, err error) *fault.Error {
	f := *fault.From(err)
	f.Message = fault.Line("chart " + n.chart.meta.Name + " depends on " + w.name + " " + w.version + w.from() + ": " +
		f.Message)
	return &f
}

// from says where a dependency is, without a login that may be in it.
func (w wanted) from() string {
	if w.repository == "" || strings.HasPrefix(w.repository, "file://") || alias(w.repository) != "" {
		return ""
	}
	address, err := url.Parse(w.repository)
	if err != nil || address.Host == "" {
		return ""
	}
	return " of " + address.Scheme + "://" + address.Host + address.EscapedPath()
}

// shown is a repository that is no URL to fetch from in a message, of which a login or a query may be a part.
func shown(repository string) string {
	if !strings.ContainsAny(repository, "@?#") {
		return repository
	}
	scheme, _, ok := strings.Cut(repository, "://")
	if !ok || strings.ContainsAny(scheme, "@?#") {
		return "…"
	}
	return scheme + "://…"
}

// check refuses a chart that is not the one that was asked for, or that cannot be in its place.
func check(chain []*node, child *node, w wanted) error {
	meta := child.chart.meta
	n := chain[len(chain)-1]
	if i := slices.IndexFunc(chain, child.is); i >= 0 {
		return fault.New(fault.InvalidArgument, "a chart cannot depend on itself: %s", chainOf(chain[i:], child)).
			WithHint("take one of the dependencies out of its Chart.yaml")
	}
	for _, other := range n.below {
		if other.into() == child.into() && !other.is(child) {
			return fault.New(fault.InvalidArgument, "it depends on two different charts %s of version %s", meta.Name,
				meta.Version).WithHint("depend on one of them")
		}
	}
	switch {
	case meta.Name != w.name:
		return fault.New(fault.InvalidArgument, "what is there is the chart %q", meta.Name).
			WithHint("write the name that the chart has, and an alias if it is to have another")
	case strings.IndexAny(meta.Name, "_.") == 0:
		return fault.New(fault.InvalidArgument, "a chart of that name is not read").
			WithHint("a name begins with a letter or a digit")
	case !chart.InRange(w.within, meta.Version):
		return fault.New(fault.InvalidArgument, "what is there has the version %s", meta.Version).
			WithHint("depend on a range that has it")
	case len(chain) > maxDepth:
		return fault.New(fault.InvalidArgument, "more than %d charts in each other: %s", maxDepth,
			chainOf(chain, child)).
			WithHint("put the charts into it: run `helm dependency build` before it is packed")
	}
	return nil
}

// chainOf are the names of charts that depend on each other.
func chainOf(chain []*node, last *node) string {
	var names []string
	for _, n := range append(slices.Clip(chain), last) {
		names = append(names, n.chart.meta.Name)
	}
	return strings.Join(names, " → ")
}

// find finds a dependency.
func (g *gathering) find(ctx context.Context, n *node, w wanted) (*node, error) {
	if _, err := semver.NewConstraint(w.version); err != nil || w.version == "" {
		return nil, fault.New(fault.InvalidArgument, "%q is neither a version nor a range of versions", w.version).
			WithHint("correct the dependency in Chart.yaml")
	}
	scheme, rest, _ := strings.Cut(w.repository, "://")
	switch {
	case w.repository == "":
		return nil, fault.New(fault.InvalidArgument, "it names no repository, and charts/ does not have it").
			WithHint("put the chart into charts/, or name its repository in Chart.yaml")
	case scheme == "file":
		return g.findIn(ctx, n, rest)
	case scheme == "oci" || scheme == "https" || scheme == "http":
		return g.fetch(ctx, w)
	case alias(w.repository) != "" && g.fetcher.Getenv == nil:
		return nil, fault.New(fault.InvalidArgument, "%s is a name that somebody's helm has for a repository, which a "+
			"server does not know", w.repository).
			WithHint("write the URL of the repository, or add Chart.lock, which has it")
	case alias(w.repository) != "":
		return nil, fault.New(fault.InvalidArgument, "helm knows no repository %s", w.repository).
			WithHint("add it: helm repo add %s URL", alias(w.repository))
	}
	return nil, fault.New(fault.InvalidArgument, "its repository %q is not one to fetch from",
		fault.Line(shown(w.repository))).
		WithHint("write https://HOST/PATH, oci://HOST/PATH, file://DIRECTORY, or @NAME of a repository that helm knows")
}

// findIn finds a chart by its path from another one: in the content that this is in, or around it.
func (g *gathering) findIn(ctx context.Context, n *node, to string) (*node, error) {
	child := &node{files: n.files, dir: path.Join(n.dir, to), of: n.of, base: n.base, local: true, around: n.around}
	if path.IsAbs(to) || !isInside(child.dir) {
		place, ok := n.around.place(n, to)
		if !ok {
			return nil, fault.New(fault.InvalidArgument, "file://%s is outside of the content of the bundle", to).
				WithHint("of charts on this machine, name the directory with both, and the one that is meant, as " +
					"SOURCE: DIRECTORY//CHART; or run `helm dependency build` in the chart before")
		}
		if err := n.around.fill(ctx, g, child, place); err != nil {
			return nil, err
		}
	}
	var err error
	if child.chart, err = describe(ctx, child, g.left); err == nil {
		return child, nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.New(fault.NotFound, "%s of the content is no chart: it has no Chart.yaml",
			path.Join(child.base, child.dir)).
			WithHint("correct the path in Chart.yaml, which begins in the directory of the chart")
	}
	return nil, notAChart(err)
}

func notAChart(err error) error {
	if fault.ReasonOf(err) == content.ReasonTooLarge {
		return err
	}
	return fault.New(fault.InvalidArgument, "what is there is not a valid chart: %w", err).
		WithHint("tell its maintainers, or depend on another version")
}
