package instance

import (
	"context"
	"io"
	"time"

	helm "helm.sh/helm/v3/pkg/release"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/bundle/format"
	"github.com/berthdev/berth/internal/bundle/observe"
	"github.com/berthdev/berth/internal/bundle/resource"
	"github.com/berthdev/berth/internal/bundle/unpack"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/reconcile"
)

// Instance brings an instance of our class to what its spec says. The error is for
// the caller that is to try again; the reason is in the instance's status.
func (r Reconciler) Instance(ctx context.Context, name string, until Until, steps *event.Steps) (Outcome, error) {
	in, err := r.objects().Instance(ctx, name)
	if err != nil || in == nil || resource.CheckUsable(in) != nil || resource.IsUninstalling(in) {
		return Outcome{}, err
	}
	held, err := r.lock(ctx, name, forPass, steps)
	if err != nil {
		return Outcome{}, err
	}
	defer releaseLock(ctx, held)
	now, err := r.fresh(ctx, name)
	if in = now.Instance; err != nil || in == nil || resource.CheckUsable(in) != nil || resource.IsUninstalling(in) {
		return Outcome{}, err
	}
	if err := resource.CheckRecorded(name, r.System, now.Bundles); err != nil {
		return Outcome{}, err
	}
	p := &pass{Reconciler: r, steps: steps, held: held, until: until, in: in, bundles: now.Bundles}
	return p.run(ctx)
}

// run makes the pass. Whatever it comes to is written into the instance's status.
func (p *pass) run(ctx context.Context) (Outcome, error) {
	ctx, stop := p.held.Context(ctx)
	defer stop()
	p.before = statusText(p.in)
	p.verdicts = resource.VerdictsOf(p.in)
	p.outcome.Previous = p.in.Status.InstalledBundleName
	err := p.work(ctx)
	if err != nil {
		err = ended(ctx, err)
		p.endsEarly(err)
	}
	if ctx.Err() != nil && err != nil {
		if writing, cancel := resource.LastWord(ctx); writing != nil {
			defer cancel()
			_ = p.write(writing) // it is said here in any case
		}
		return p.outcome, err
	}
	if statusErr := p.write(ctx); err == nil {
		err = statusErr
	}
	if err == nil && p.outcome.Healthy {
		return p.outcome, p.cleanUp(ctx)
	}
	if c := meta.FindStatusCondition(p.in.Status.Conditions, v1alpha1.ConditionHealthy); c != nil {
		p.outcome.Again = lookAgain(c.LastTransitionTime.Time, p.Now())
	}
	return p.outcome, err
}

// endsEarly takes back what the instance says of the health of its objects, if the pass has not come as far as these.
// What is installed stays so.
func (p *pass) endsEarly(err error) {
	if p.looked || p.in.Status.InstalledBundleName == "" {
		return
	}
	switch {
	case reconcile.IsAfter(err), reconcile.IsSlowly(err):
		p.verdicts.Healthy = resource.Unknown(v1alpha1.ReasonInstallationStatusFalse,
			"it has not been looked at since another bundle is wanted, which is not ready to be installed yet")
	case p.verdicts.Valid.Status == metav1.ConditionFalse, p.verdicts.Installed.Status == metav1.ConditionFalse:
		p.verdicts.Healthy = resource.Unknown(v1alpha1.ReasonInstallationStatusFalse,
			"it has not been looked at since the bundle could not be installed")
	default:
		p.verdicts.Healthy = resource.Unknown(v1alpha1.ReasonReconcileFailed,
			"it has not been looked at: "+resource.Why(err))
	}
}

// work goes from the bundle to the health of what it installs, and sets the verdicts.
func (p *pass) work(ctx context.Context) error {
	b, err := p.ensureBundle(ctx)
	if err != nil {
		p.verdicts.Valid = resource.No(v1alpha1.ReasonBundleLoadFailed, resource.Why(err))
		return err
	}
	p.outcome.Bundle, p.verdicts.Valid = b.Name, resource.VerdictOf(b)
	if err := p.identify(ctx); err != nil {
		p.verdicts.Installed = resource.No(v1alpha1.ReasonErrorGettingClient, resource.Why(err))
		return err
	}
	c, err := p.revisions(ctx)
	if err != nil {
		p.verdicts.Installed = resource.Unknown(v1alpha1.ReasonErrorGettingReleaseState, resource.Why(err))
		return err
	}
	pkg, err := p.recorded(b, c.current)
	if err != nil {
		p.verdicts.Installed = resource.Unknown(v1alpha1.ReasonErrorGettingReleaseState, resource.Why(err))
		return err
	}
	if pkg != nil {
		// Where the cluster has lost a kind, a chart may do with another one.
		if err = p.install(ctx, b, pkg, c); fault.ReasonOf(err) != apply.ReasonKindMissing {
			return err
		}
	}
	if pkg, err = p.readBundle(ctx, b, c.current); err != nil {
		return err
	}
	return p.install(ctx, b, pkg, c)
}

// ensureBundle finds the bundle of the instance's template among its bundles, or makes it, and uploads its content
// if this run has that.
func (p *pass) ensureBundle(ctx context.Context) (*v1alpha1.Bundle, error) {
	b, made, err := p.objects().EnsureBundle(ctx, p.in, p.bundles, p.System)
	if err != nil {
		return nil, err
	}
	if made {
		p.bundles = append(p.bundles, *b)
		b = &p.bundles[len(p.bundles)-1]
	}
	if p.found.content == nil {
		return b, nil
	}
	return b, p.unpacker(v1alpha1.KindInstance).Upload(ctx, b, p.found.content, p.steps)
}

// readBundle reads the content of the bundle, which is unpacked for that.
func (p *pass) readBundle(ctx context.Context, b *v1alpha1.Bundle, current *helm.Release) (*format.Package, error) {
	if err := p.unpackBundle(ctx, b); err != nil {
		return nil, err
	}
	defer p.found.content.Close()
	pkg, err := p.load(ctx, b, current)
	if err != nil && !reconcile.IsSlowly(err) {
		err = p.denied(err)
		p.verdicts.Valid = resource.No(v1alpha1.ReasonBundleLoadFailed, resource.Why(err))
	}
	return pkg, err
}

// unpackBundle makes sure that the bundle is unpacked, and finds its content.
func (p *pass) unpackBundle(ctx context.Context, b *v1alpha1.Bundle) (err error) {
	unpacker := p.unpacker(v1alpha1.KindInstance)
	switch {
	case p.found.content != nil && !unpacker.IsUnpacked(b):
		err = unpacker.WriteUnpacked(ctx, b, p.found.content, p.found.resolved)
	case p.found.content == nil && resource.IsOurs(b.Spec.ProvisionerClassName):
		p.found.content, err = unpacker.Unpack(ctx, b, p.steps)
	}
	p.verdicts.Valid = resource.VerdictOf(b)
	switch {
	case reconcile.IsAfter(err):
		return err
	case err != nil && p.verdicts.Valid.Status == metav1.ConditionTrue:
		p.verdicts.Valid = resource.No(v1alpha1.ReasonReadingContentFailed, resource.Why(err))
		return err
	case err != nil:
		return err
	case p.verdicts.Valid.Status != metav1.ConditionTrue:
		return fault.New(fault.Unavailable, "%s", p.verdicts.Valid.Message) // another program unpacks it
	case p.found.content == nil:
		if p.found.content, err = unpacker.FromOthers(ctx, b); err != nil && !reconcile.IsAfter(err) {
			p.verdicts.Valid = resource.No(v1alpha1.ReasonReadingContentFailed, resource.Why(err))
		}
	}
	return err
}

// cleanUp deletes every other bundle of the instance: what is installed is healthy.
func (p *pass) cleanUp(ctx context.Context) error {
	for i := range p.bundles {
		b := &p.bundles[i]
		if b.Name == p.outcome.Bundle || b.DeletionTimestamp != nil {
			continue
		}
		if err := p.held.Confirm(ctx); err != nil {
			return err
		}
		if err := p.objects().DeleteBundle(ctx, b); err != nil {
			return err
		}
	}
	return nil
}

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
