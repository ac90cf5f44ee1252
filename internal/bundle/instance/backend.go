package instance

import (
	"context"
	"io"
	"io/fs"
	"time"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/reconcile"
)

// Backend is what a server works with: nobody sees its steps, since all that comes of
// them is on the objects.
type Backend struct {
	Reconciler
	turn chan struct{} // has the one that opens content to be sent
}

// NewBackend makes the backend of a reconciler.
func NewBackend(r Reconciler) Backend {
	r.turns, r.fetches = newTurns(), newFetches(r.Fetcher.Cache)
	return Backend{Reconciler: r, turn: make(chan struct{}, 1)}
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
func (b Backend) Open(ctx context.Context, bundle, known string) (archive io.ReadSeekCloser, digest string, modified time.Time, err error) {
	found, err := b.objects().Bundle(ctx, bundle)
	if err != nil {
		return nil, "", modified, err
	}
	if found == nil || !IsOurs(found.Spec.ProvisionerClassName) || found.Status.Phase != v1alpha1.PhaseUnpacked {
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

// archive opens that of the cache. What is not there is fetched, and opened by one after the
// other: it takes several times its size on disk, however many ask for it.
func (b Backend) archive(ctx context.Context, found *v1alpha1.Bundle) (archive io.ReadSeekCloser, digest string, err error) {
	if archive := b.kept(ctx, found); archive != nil {
		return archive, found.Status.Digest, nil
	}
	fetch := b.fetches.ask(ctx, found, sourceText(found, resolvedSource(found)), b.on, b.fetching(found, resolvedSource(found)))
	if err := b.fetches.wait(ctx, fetch, false); err != nil {
		return nil, "", err
	}
	select {
	case b.turn <- struct{}{}:
		defer func() { <-b.turn }()
	case <-ctx.Done():
		return nil, "", context.Cause(ctx)
	}
	if archive := b.kept(ctx, found); archive != nil {
		return archive, found.Status.Digest, nil // the one before has fetched it
	}
	steps := b.unseen()
	defer steps.Finish(v1.Result{})
	c, err := b.Content(ctx, found, steps)
	if err != nil {
		return nil, "", err
	}
	return c.Archive(), c.Digest, nil
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
