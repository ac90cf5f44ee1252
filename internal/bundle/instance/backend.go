package instance

import (
	"context"
	"io"
	"io/fs"
	"time"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/bundle/resource"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/reconcile"
)

// Backend is what a server works with: nobody sees its steps, since all that comes of
// them is on the objects.
type Backend struct {
	Reconciler
}

// NewBackend makes the backend of a reconciler.
func NewBackend(r Reconciler) Backend {
	r.turns, r.fetches = newTurns(), newFetches(r.Fetcher.Cache)
	return Backend{Reconciler: r}
}

// Bundle unpacks a bundle.
func (b Backend) Bundle(ctx context.Context, name string) error {
	steps := b.unseen()
	defer steps.Finish(v1.Result{})
	return b.Reconciler.Bundle(ctx, name, steps)
}

// Instance makes one pass over an instance, and asks for another one while its objects
// are not healthy.
func (b Backend) Instance(ctx context.Context, name string) error {
	steps := b.unseen()
	defer steps.Finish(v1.Result{})
	out, err := b.Reconciler.Instance(ctx, name, UntilLookedAt, steps)
	if err == nil && out.Again > 0 {
		return reconcile.Again(out.Again)
	}
	return err
}

func (b Backend) unseen() *event.Steps {
	return event.NewSteps(event.NewStream("", b.Now), b.Now)
}

// Open opens the archive of a bundle that is unpacked. It is nil if its digest is known.
func (b Backend) Open(ctx context.Context, bundle, known string) (archive io.ReadSeekCloser, digest string,
	modified time.Time, err error,
) {
	found, err := b.objects().Bundle(ctx, bundle)
	if err != nil {
		return nil, "", modified, err
	}
	if found == nil || !resource.IsOurs(found.Spec.ProvisionerClassName) || found.Status.Phase != v1alpha1.PhaseUnpacked {
		return nil, "", modified, fs.ErrNotExist
	}
	if err := checkDigest(found); err != nil {
		return nil, "", modified, err
	}
	digest, modified = found.Status.Digest, found.CreationTimestamp.Time
	if digest != "" && digest == known {
		return nil, digest, modified, nil
	}
	archive, digest, err = b.archive(ctx, found)
	return archive, digest, modified, err
}

// archive opens that of the cache. What is not there is fetched once, for all who ask for it.
func (b Backend) archive(ctx context.Context, found *v1alpha1.Bundle) (archive io.ReadSeekCloser, digest string,
	err error,
) {
	from := resolvedSource(found)
	for {
		if archive := b.kept(ctx, found); archive != nil {
			return archive, found.Status.Digest, nil
		}
		c, err := b.fetches.send(ctx, found, sourceText(found, from), b.fetching(found, from))
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
func (b Backend) kept(ctx context.Context, found *v1alpha1.Bundle) io.ReadSeekCloser {
	if found.Status.Digest == "" {
		return nil
	}
	archive, err := b.Fetcher.Cache.Archive(ctx, found.Status.Digest)
	if err != nil {
		return nil
	}
	return archive
}
