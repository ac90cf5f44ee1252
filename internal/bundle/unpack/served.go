package unpack

import (
	"context"
	"io"
	"io/fs"
	"time"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/bundle/resource"
	"github.com/berthdev/berth/internal/bundle/source"
	"github.com/berthdev/berth/internal/fault"
)

// Open opens the archive of a bundle that is unpacked. It is nil if its digest is known.
func (u Unpacker) Open(ctx context.Context, bundle, known string) (archive io.ReadSeekCloser, digest string,
	modified time.Time, err error,
) {
	found, err := u.Objects.Bundle(ctx, bundle)
	if err != nil {
		return nil, "", modified, err
	}
	if found == nil || !resource.IsOurs(found.Spec.ProvisionerClassName) ||
		found.Status.Phase != v1alpha1.PhaseUnpacked {
		return nil, "", modified, fs.ErrNotExist
	}
	if err := checkDigest(found); err != nil {
		return nil, "", modified, err
	}
	digest, modified = found.Status.Digest, found.CreationTimestamp.Time
	if digest != "" && digest == known {
		return nil, digest, modified, nil
	}
	archive, digest, err = u.archive(ctx, found)
	return archive, digest, modified, err
}

// archive opens that of the cache. What is not there is fetched once, for all who ask for it.
func (u Unpacker) archive(ctx context.Context, found *v1alpha1.Bundle) (archive io.ReadSeekCloser, digest string,
	err error,
) {
	from := resolvedSource(found)
	for {
		if archive := u.kept(ctx, found); archive != nil {
			return archive, found.Status.Digest, nil
		}
		c, err := u.Fetches.send(ctx, found, sourceText(found, from), u.fetching(found, from))
		if err == nil && c != nil {
			c, err = asUnpacked(found, c)
		}
		if err != nil {
			return nil, "", err
		}
		if c != nil {
			return c.Archive(), c.Digest, nil
		}
	}
}

// kept is the archive of the cache; nil if it has none that can be read.
func (u Unpacker) kept(ctx context.Context, found *v1alpha1.Bundle) io.ReadSeekCloser {
	if found.Status.Digest == "" {
		return nil
	}
	archive, err := u.Fetcher.Cache.Archive(ctx, found.Status.Digest)
	if err != nil {
		return nil
	}
	return archive
}

// FromOthers is the content of a bundle that another program has unpacked.
func (u Unpacker) FromOthers(ctx context.Context, b *v1alpha1.Bundle) (*content.Content, error) {
	if err := u.Fetcher.Verify.Unsupported("bundle " + b.Name + ", which another program has unpacked,"); err != nil {
		return nil, err
	}
	if b.Status.ContentURL == "" {
		return nil, fault.New(fault.Unavailable, "bundle %s is unpacked, and nobody serves its content", b.Name).
			WithHint("its class %s has to be served by the program that reconciles it", b.Spec.ProvisionerClassName)
	}
	url := b.Status.ContentURL
	if u.Fetches == nil {
		return u.fromURL(ctx, url)
	}
	c, _, err := u.Fetches.get(ctx, b, url, u.Kind,
		func(ctx context.Context, progress func(v1.Progress)) (c *content.Content, _ v1alpha1.Source, err error) {
			own := u // the copy is the fetch's own
			own.Fetcher.Progress = progress
			c, err = own.fromURL(ctx, url)
			return c, v1alpha1.Source{}, err
		})
	return c, err
}

// fromURL fetches content from the server of another program, with the caller's token.
func (u Unpacker) fromURL(ctx context.Context, url string) (c *content.Content, err error) {
	err = source.Within(ctx, u.Fetcher.Time, "the content at "+url, func(ctx context.Context) error {
		c, err = u.download(ctx, url)
		return err
	})
	return c, err
}

func (u Unpacker) download(ctx context.Context, url string) (*content.Content, error) {
	limits := u.Fetcher.Limits
	// The builder is the first to find it too large, and says so.
	archive, err := u.Served.Fetch(ctx, url, limits.Compressed+1<<20)
	if err != nil {
		return nil, err
	}
	defer archive.Close()
	b, err := content.NewBuilder(u.Fetcher.Cache, limits)
	if err != nil {
		return nil, err
	}
	defer b.Discard()
	if err := b.Tar(ctx, u.Fetcher.Watch("Fetching the content", archive, 0)); err != nil {
		return nil, err
	}
	return b.Seal(ctx)
}
