package source

import (
	"context"
	"time"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/fault"
)

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
	case v1alpha1.SourceImage:
		return "image " + s.Image.Ref
	}
	return "the source of type " + string(s.Type)
}
