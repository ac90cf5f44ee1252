package instance

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/bundle/format"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/lock"
)

// Outcome is what a pass over an instance has come to.
type Outcome struct {
	Action   v1.BundleAction
	Bundle   string
	Previous string
	Revision int
	Changes  apply.Changes
	Healthy  bool
	Notes    string
}

// Until says how far a pass goes.
type Until int

// A pass ends when the objects are applied, when their health has been looked at once,
// or when they are healthy.
const (
	UntilInstalled Until = iota
	UntilLookedAt
	UntilHealthy
)

// pass is one pass over an instance, under its lock.
type pass struct {
	Reconciler
	steps *event.Steps
	held  *lock.Lock
	until Until

	in       *v1alpha1.Instance
	before   string // the status
	verdicts instanceVerdicts
	bundles  []v1alpha1.Bundle // of the instance
	found    found
	outcome  Outcome
}

// found is what is known of the wanted bundle's content before the pass has asked; empty
// for a server, which starts from the objects.
type found struct {
	content  *content.Content
	resolved v1alpha1.Source
	pkg      *format.Package
}

// Instance brings an instance of our class to what its spec says. The error is for
// whoever is to try again; the reason is in the instance's status.
func (r Reconciler) Instance(ctx context.Context, name string, until Until, steps *event.Steps) (Outcome, error) {
	in, err := r.objects().Instance(ctx, name)
	if err != nil || in == nil || !IsOurs(in.Spec.ProvisionerClassName) || in.DeletionTimestamp != nil {
		return Outcome{}, err
	}
	held, err := r.lock(ctx, name, "reconcile")
	if err != nil {
		return Outcome{}, err
	}
	defer giveBack(ctx, held)
	bundles, err := r.objects().Bundles(ctx, name)
	if err != nil {
		return Outcome{}, err
	}
	p := &pass{Reconciler: r, steps: steps, held: held, until: until, in: in, bundles: bundles}
	return p.run(ctx)
}

// run makes the pass. Whatever it comes to is written into the instance's status.
func (p *pass) run(ctx context.Context) (Outcome, error) {
	ctx, stop := p.held.Context(ctx)
	defer stop()
	p.before = statusText(p.in)
	p.verdicts = atFirst(p.in)
	p.outcome.Previous = p.in.Status.InstalledBundleName
	err := p.work(ctx)
	if ctx.Err() != nil && err != nil {
		if fault.CodeOf(err) == fault.CodeOf(context.Cause(ctx)) {
			return p.outcome, err // which says more
		}
		return p.outcome, context.Cause(ctx) // nothing is known that would be worth writing
	}
	if statusErr := p.write(ctx); err == nil {
		err = statusErr
	}
	if err == nil && p.outcome.Healthy {
		err = p.cleanUp(ctx)
	}
	return p.outcome, err
}

// work goes from the bundle to the health of what it installs, and sets the verdicts.
func (p *pass) work(ctx context.Context) error {
	b, err := p.ensureBundle(ctx)
	if err != nil {
		p.verdicts.valid = no(v1alpha1.ReasonBundleLoadFailed, why(err))
		return err
	}
	p.outcome.Bundle = b.Name
	if err := p.unpackBundle(ctx, b); err != nil {
		return err
	}
	defer p.found.content.Close()
	pkg, err := p.load(ctx)
	if err != nil {
		p.verdicts.valid = no(v1alpha1.ReasonBundleLoadFailed, why(err))
		return err
	}
	return p.install(ctx, b, pkg)
}

// unpackBundle makes sure that the bundle is unpacked, and finds its content.
func (p *pass) unpackBundle(ctx context.Context, b *v1alpha1.Bundle) (err error) {
	switch {
	case p.found.content != nil && !p.isUnpacked(b):
		err = p.unpacked(ctx, b, p.found.content, p.found.resolved)
	case p.found.content == nil && IsOurs(b.Spec.ProvisionerClassName):
		p.found.content, err = p.unpack(ctx, b, p.steps)
	}
	p.verdicts.valid = ofBundle(b)
	switch {
	case err != nil && p.verdicts.valid.status == metav1.ConditionTrue:
		p.verdicts.valid = no(v1alpha1.ReasonReadingContentFailed, why(err))
		return err
	case err != nil:
		return err
	case p.verdicts.valid.status != metav1.ConditionTrue:
		return fault.New(fault.Unavailable, "%s", p.verdicts.valid.message) // another program unpacks it
	case p.found.content == nil:
		if p.found.content, err = p.served(ctx, b); err != nil {
			p.verdicts.valid = no(v1alpha1.ReasonReadingContentFailed, why(err))
		}
	}
	return err
}

// served is the content of a bundle that another program has unpacked.
func (p *pass) served(ctx context.Context, b *v1alpha1.Bundle) (*content.Content, error) {
	if b.Status.ContentURL == "" {
		return nil, fault.New(fault.Unavailable, "bundle %s is unpacked, and nobody serves its content", b.Name).
			WithHint("its class %s has to be served by the program that reconciles it", b.Spec.ProvisionerClassName)
	}
	return p.fromURL(ctx, b.Status.ContentURL)
}

// write writes the status, if it is not what it was.
func (p *pass) write(ctx context.Context) error {
	p.verdicts.apply(p.in, p.Now())
	if p.before == statusText(p.in) {
		return nil
	}
	if err := p.objects().SetInstanceStatus(ctx, p.in); err != nil {
		return err
	}
	p.before = statusText(p.in)
	return nil
}

// statusText tells one status from another.
func statusText(in *v1alpha1.Instance) string {
	text, _ := json.Marshal(in.Status) // plain fields: cannot fail
	return string(text)
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

// ensureBundle finds the bundle of the instance's template among its bundles, or makes
// it.
func (p *pass) ensureBundle(ctx context.Context) (*v1alpha1.Bundle, error) {
	hash, err := templateHash(p.in.Spec.Template)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(p.bundles, func(b v1alpha1.Bundle) bool {
		return b.Labels[v1alpha1.LabelTemplateHash] == hash && b.DeletionTimestamp == nil
	})
	if i >= 0 {
		return &p.bundles[i], p.upload(ctx, &p.bundles[i])
	}
	for attempt := range maxAttempts {
		b := bundleOf(p.in, hash, attempt)
		err := p.objects().CreateBundle(ctx, b)
		if apierrors.IsAlreadyExists(err) {
			there, err := p.objects().Bundle(ctx, b.Name)
			if err != nil {
				return nil, err
			}
			if there == nil || there.DeletionTimestamp != nil || there.Labels[v1alpha1.LabelTemplateHash] != hash || !metav1.IsControlledBy(there, p.in) {
				continue // of another template, or on its way out
			}
			b = there // another process was faster
		} else if err != nil {
			return nil, kube.Fault(err, call("create", v1alpha1.Bundles(), b.Name))
		}
		p.bundles = append(p.bundles, *b)
		b = &p.bundles[len(p.bundles)-1]
		return b, p.upload(ctx, b)
	}
	return nil, fault.New(fault.Conflict, "there is a bundle of every name that instance %s could give its bundle", p.in.Name).
		WithHint("delete bundles that belong to no instance: kubectl get bundles.core.rukpak.io")
}

// maxAttempts is how many names are tried for a bundle.
const maxAttempts = 5

// upload writes the content of an upload, if this run has it.
func (p *pass) upload(ctx context.Context, b *v1alpha1.Bundle) error {
	if b.Spec.Source.Type != v1alpha1.SourceUpload || p.found.content == nil || p.isUnpacked(b) {
		return nil
	}
	return p.fetcher(b, p.steps).Upload(ctx, p.found.content)
}

// bundleOf is the bundle of an instance's template.
func bundleOf(in *v1alpha1.Instance, hash string, attempt int) *v1alpha1.Bundle {
	t := in.Spec.Template
	b := &v1alpha1.Bundle{Spec: t.Spec}
	b.Name = bundleName(in.Name, hash, attempt)
	b.Labels, b.Annotations = map[string]string{}, map[string]string{}
	maps.Copy(b.Labels, t.Metadata.Labels)
	maps.Copy(b.Annotations, t.Metadata.Annotations)
	b.Labels[v1alpha1.LabelOwnerKind], b.Labels[v1alpha1.LabelOwnerName] = v1alpha1.KindInstance, in.Name
	b.Labels[v1alpha1.LabelTemplateHash] = hash
	b.OwnerReferences = []metav1.OwnerReference{ownedBy(in, true)}
	return b
}

// ownedBy is the reference by which the cluster removes what belongs to an instance
// that is deleted.
func ownedBy(in *v1alpha1.Instance, controller bool) metav1.OwnerReference {
	ref := metav1.OwnerReference{APIVersion: v1alpha1.GroupVersion().String(), Kind: v1alpha1.KindInstance, Name: in.Name, UID: in.UID}
	if controller {
		ref.Controller = &controller
	}
	return ref
}
