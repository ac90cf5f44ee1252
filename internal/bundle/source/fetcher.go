// Package source fetches what a bundle is made of, from wherever it is, and says what
// exactly was fetched: a file for each type of source.
package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/bundle/signature"
	"github.com/berthdev/berth/internal/credential"
	"github.com/berthdev/berth/internal/fault"
)

// Fetcher fetches sources.
type Fetcher struct {
	Cache  *content.Cache
	Limits content.Limits
	// Cluster has Secrets, ConfigMaps and uploads; nil without a cluster.
	Cluster *Cluster
	// Bundle is the one whose source is fetched: an upload belongs to it. It may be nil
	// for any other source.
	Bundle *v1alpha1.Bundle
	// Getenv gives the variables by which the caller's own logins are found: those of
	// Docker, of git's credential helpers and of SSH. Nil is for a server, which fetches
	// what others ask for: then a source has the login of its Secret or none, and is at no link-local address.
	Getenv func(string) string
	// Indexes keep those of chart repositories for a while; nil keeps none.
	Indexes *Indexes
	// Verify says by whom everything has to be signed that is fetched; nil asks for no signatures. Its cache has what
	// was verified under it, and nothing else.
	Verify *signature.Policy
	// Commit is given the commit of a git source, for what else of it is to be read; it is to be closed. Nil keeps
	// none.
	Commit *Commit
	// Progress is told what happens, with bytes so far, and in all if that is known;
	// from one goroutine at a time. It may be nil.
	Progress func(v1.Progress)
	// Time is how long a Fetch may take; 0 for as long as its context lasts.
	Time time.Duration

	lent lent
	// For tests; 0 is maxSilence and maxChunk.
	silence time.Duration
	chunk   int
}

// Fetch makes content of a source, and resolves the source to exactly that. What a
// resolved source names is taken from the cache if it is there.
func (f Fetcher) Fetch(ctx context.Context, s v1alpha1.Source) (*content.Content, v1alpha1.Source, error) {
	if err := check(s); err != nil {
		return nil, v1alpha1.Source{}, err
	}
	if f.Getenv == nil {
		ctx = credential.WithoutLinkLocal(ctx)
	}
	var c *content.Content
	err := Within(ctx, f.Time, nameOf(s), func(ctx context.Context) (err error) {
		c, s, err = f.fetch(ctx, s)
		return err
	})
	if err != nil {
		return nil, v1alpha1.Source{}, err
	}
	return c, s, nil
}

// fetch fetches a source that is what it says.
func (f Fetcher) fetch(ctx context.Context, s v1alpha1.Source) (c *content.Content, _ v1alpha1.Source, err error) {
	switch s.Type {
	case v1alpha1.SourceImage:
		c, s.Image, err = f.image(ctx, *s.Image)
	case v1alpha1.SourceGit:
		c, s.Git, err = f.git(ctx, *s.Git)
	case v1alpha1.SourceHTTP:
		c, s.HTTP, err = f.http(ctx, *s.HTTP)
	case v1alpha1.SourceChart:
		c, s.HTTP, err = f.chart(ctx, *s.Chart)
		s.Type, s.Chart = v1alpha1.SourceHTTP, nil
	case v1alpha1.SourceConfigMaps:
		if err = f.Verify.Unsupported("what is in ConfigMaps"); err == nil {
			c, err = f.configMaps(ctx, s.ConfigMaps)
		}
	case v1alpha1.SourceUpload:
		c, s.Upload, err = f.upload(ctx, *s.Upload)
	default:
		err = notImplemented(s.Type)
	}
	return c, s, err
}

// check finds out whether a source has what its type says, and nothing else.
func check(s v1alpha1.Source) error {
	fields := []struct {
		of  v1alpha1.SourceType
		set bool
	}{
		{v1alpha1.SourceImage, s.Image != nil},
		{v1alpha1.SourceGit, s.Git != nil},
		{v1alpha1.SourceHTTP, s.HTTP != nil},
		{v1alpha1.SourceChart, s.Chart != nil},
		{v1alpha1.SourceConfigMaps, len(s.ConfigMaps) > 0},
		{v1alpha1.SourceUpload, s.Upload != nil},
	}
	known := false
	var problems []string
	for _, field := range fields {
		switch {
		case field.of == s.Type && !field.set:
			problems = append(problems, fmt.Sprintf("source.%s is missing, as the type is %s", field.of, s.Type))
		case field.of != s.Type && field.set:
			problems = append(problems, fmt.Sprintf("source.%s is set, but the type is %s", field.of, s.Type))
		}
		known = known || field.of == s.Type
	}
	if !known {
		return notImplemented(s.Type)
	}
	return together(problems, "set the one field that is named as the type")
}

// notImplemented stands in the condition of a bundle, for the one who made it.
func notImplemented(t v1alpha1.SourceType) error {
	return fault.New(fault.InvalidArgument, "source type %q is not implemented by this provisioner", t).
		WithHint("use one of %s, %s, %s, %s, %s and %s", v1alpha1.SourceImage, v1alpha1.SourceGit, v1alpha1.SourceHTTP,
			v1alpha1.SourceChart, v1alpha1.SourceConfigMaps, v1alpha1.SourceUpload)
}

// together makes one error of all problems of an input; nil if there are none.
func together(problems []string, hint string) error {
	switch len(problems) {
	case 0:
		return nil
	case 1:
		return fault.New(fault.InvalidArgument, "%s", problems[0]).WithHint("%s", hint)
	}
	err := fault.New(fault.InvalidArgument, "the source has %d problems, the first is that %s", len(problems),
		problems[0]).WithHint("%s", hint)
	err.Problems = problems
	return err
}

// Verifying is a fetcher that takes only what is signed as a policy says, and nothing from a cache that was fetched
// without it.
func (f Fetcher) Verifying(p *signature.Policy) Fetcher {
	f.Verify = p
	if p != nil {
		f.Cache = f.Cache.Within(func() string { return "signed-" + p.Sum()[:16] })
	}
	return f
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

// cached gives the content of a digest, if one is known and the cache has it.
func (f Fetcher) cached(digest string) (*content.Content, bool, error) {
	if digest == "" {
		return nil, false, nil
	}
	c, err := f.Cache.Get(digest)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	return c, err == nil, err
}

// FlagTime is the flag that says how long fetching may take, and DefaultTime what it is
// without it: with DefaultLimits, 2 MiB a second for the largest archive.
const (
	FlagTime    = "fetch-timeout"
	DefaultTime = 2 * time.Minute
)

// Within fetches something, which is named in the error, within a time; 0 for as long as the
// context lasts.
func Within(ctx context.Context, limit time.Duration, what string, fetch func(context.Context) error) error {
	if limit == 0 {
		return fetch(ctx)
	}
	late := fault.New(fault.DeadlineExceeded, "%s was not fetched within %s", what, limit).
		WithHint("put it where it is fetched faster, make it smaller, or allow more with --%s", FlagTime)
	inner, cancel := context.WithTimeoutCause(ctx, limit, late)
	defer cancel()
	err := fetch(inner)
	if err != nil && ctx.Err() == nil && inner.Err() != nil {
		return late
	}
	return err
}

// nameOf is a source in messages, without what may be secret.
func nameOf(s v1alpha1.Source) string {
	switch s.Type {
	case v1alpha1.SourceHTTP:
		if address, err := httpURL(s.HTTP.URL); err == nil {
			return name(address)
		}
	case v1alpha1.SourceGit:
		if address, err := repositoryURL(*s.Git); err == nil {
			return "repository " + address.Redacted()
		}
	case v1alpha1.SourceChart:
		if address, err := httpURL(s.Chart.Repository); err == nil {
			return "chart " + s.Chart.Name + " of " + name(address)
		}
	case v1alpha1.SourceImage:
		return "image " + s.Image.Ref
	}
	return "the source of type " + string(s.Type)
}

const progressPeriod = 100 * time.Millisecond

// Watch reports how much has been read of r, at its beginning, at its end and now and
// then. A total of 0 is unknown.
func (f Fetcher) Watch(message string, r io.Reader, total int64) io.Reader {
	f.tell(v1.Progress{Message: message, Total: total})
	return &watched{r: r, tell: f.tell, progress: v1.Progress{Message: message, Total: total}, at: time.Now()}
}

func (f Fetcher) tell(p v1.Progress) {
	if f.Progress != nil {
		f.Progress(p)
	}
}

type watched struct {
	r        io.Reader
	tell     func(v1.Progress)
	progress v1.Progress
	at       time.Time
}

// Read implements io.Reader.
func (w *watched) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	w.progress.Done += int64(n)
	if now := time.Now(); err != nil || now.Sub(w.at) >= progressPeriod {
		w.at = now
		w.tell(w.progress)
	}
	return n, err
}
