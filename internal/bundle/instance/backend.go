package instance

import (
	"context"
	"io"
	"slices"
	"time"

	"k8s.io/client-go/metadata"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/bundle/observe"
	"github.com/berthdev/berth/internal/bundle/unpack"
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
	r.turns, r.fetches = unpack.NewTurns(), unpack.NewFetches(r.Fetcher.Cache)
	return Backend{Reconciler: r}
}

// Bundle unpacks a bundle.
func (b Backend) Bundle(ctx context.Context, name string) error {
	steps := b.unseen()
	defer steps.Finish(v1.Result{})
	return b.unpacker(v1alpha1.KindBundle).Bundle(ctx, name, steps)
}

// Instance makes one pass over an instance, and asks for another one while its objects
// are not healthy. It gives what is to be watched from then on.
func (b Backend) Instance(ctx context.Context, name string) (observe.Set, error) {
	steps := b.unseen()
	defer steps.Finish(v1.Result{})
	out, err := b.Reconciler.Instance(ctx, name, UntilLookedAt, steps)
	if err == nil && out.Again > 0 {
		err = reconcile.Again(out.Again)
	}
	return out.Watch, err
}

func (b Backend) unseen() *event.Steps {
	return event.NewSteps(event.NewStream("", b.Now), b.Now)
}

// Open opens the archive of a bundle that is unpacked. It is nil if its digest is known.
func (b Backend) Open(ctx context.Context, bundle, known string) (archive io.ReadSeekCloser, digest string,
	modified time.Time, err error,
) {
	return b.unpacker("").Open(ctx, bundle, known)
}

// observe says what a server is to watch: what is installed, and what is to be.
func (p *pass) observe(ctx context.Context, applier apply.Applier, c changing) {
	scopes, err := applier.Scopes(ctx, slices.Concat(c.objects, c.before))
	if err != nil || ctx.Err() != nil {
		return // it stays as it is
	}
	installs := p.Installs
	p.outcome.Watch = observe.Set{
		As: p.account.String(), Scopes: scopes, Client: func() (metadata.Interface, error) {
			return metadata.NewForConfigAndClient(installs.Config, installs.HTTP)
		},
	}
}
