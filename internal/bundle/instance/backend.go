package instance

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"time"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/event"
)

// Backend is what a server works with: nobody sees its steps, since all that comes of
// them is on the objects.
type Backend struct{ Reconciler }

// Bundle unpacks a bundle.
func (b Backend) Bundle(ctx context.Context, name string) error {
	steps := b.unseen()
	defer steps.Finish(v1.Result{})
	return b.Reconciler.Bundle(ctx, name, steps)
}

// Instance makes one pass over an instance.
func (b Backend) Instance(ctx context.Context, name string) error {
	steps := b.unseen()
	defer steps.Finish(v1.Result{})
	_, err := b.Reconciler.Instance(ctx, name, UntilLookedAt, steps)
	return err
}

func (b Backend) unseen() *event.Steps {
	return event.NewSteps(event.NewStream("", b.Now), b.Now)
}

// Open opens the archive of a bundle that is unpacked.
func (b Backend) Open(ctx context.Context, bundle string) (archive io.ReadSeekCloser, digest string, modified time.Time, err error) {
	found, err := b.objects().Bundle(ctx, bundle)
	if err != nil {
		return nil, "", modified, err
	}
	if found == nil || !IsOurs(found.Spec.ProvisionerClassName) || found.Status.Phase != v1alpha1.PhaseUnpacked {
		return nil, "", modified, fs.ErrNotExist
	}
	steps := b.unseen()
	defer steps.Finish(v1.Result{})
	c, err := b.Content(ctx, found, steps)
	if err != nil {
		return nil, "", modified, err
	}
	if archive, err = c.Open(); err != nil {
		return nil, "", modified, errors.Join(err, c.Close())
	}
	return served{archive, c}, c.Digest, found.CreationTimestamp.Time, nil
}

// served is an archive that is closed with its content.
type served struct {
	io.ReadSeekCloser
	content *content.Content
}

// Close implements io.Closer.
func (s served) Close() error { return errors.Join(s.ReadSeekCloser.Close(), s.content.Close()) }
