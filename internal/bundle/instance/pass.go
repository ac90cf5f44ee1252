package instance

import (
	"context"
	"encoding/json"
	"time"

	helm "helm.sh/helm/v3/pkg/release"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/bundle/format"
	"github.com/berthdev/berth/internal/bundle/observe"
	"github.com/berthdev/berth/internal/bundle/resource"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/lock"
	"github.com/berthdev/berth/internal/release"
)

// Outcome is what a pass over an instance has come to.
type Outcome struct {
	Action   v1.BundleAction
	Bundle   string
	Previous string
	Revision int
	Changes  apply.Changes
	Healthy  bool
	// Again is when a server looks at objects again that are not healthy yet; 0 for those
	// that are.
	Again time.Duration
	// Watch is what a server watches from now on; it has no scopes if that stays as it is.
	Watch observe.Set
	Notes string
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
	// requested is true for a pass of a command that has written the instance just now.
	requested bool

	in       *v1alpha1.Instance
	before   string // the status
	verdicts resource.Verdicts
	bundles  []v1alpha1.Bundle // of the instance
	found    found
	outcome  Outcome
	// looked is true once the pass has come as far as the objects, which says something of their health.
	looked bool
}

// found is what is known of the wanted bundle's content before the pass has asked; empty
// for a server, which starts from the objects.
type found struct {
	content  *content.Content
	resolved v1alpha1.Source
	pkg      *format.Package
	release  *helm.Release // the newest record when the package was read
}

// ended is why a context has ended, if that is what an error comes from: an error with the same
// code says more.
func ended(ctx context.Context, err error) error {
	if ctx.Err() == nil || fault.CodeOf(err) == fault.CodeOf(context.Cause(ctx)) {
		return err
	}
	return context.Cause(ctx)
}

// identify has the pass do what the bundle chooses as the ServiceAccount that its instance
// names. Of an instance that somebody else has written, its author must have been asked for
// the permission; the caller of an installation is asked with each request.
func (p *pass) identify(ctx context.Context) error {
	account := p.in.Spec.ServiceAccount
	if account == nil {
		return nil
	}
	if !p.requested {
		if err := p.Guard.Check(ctx); err != nil {
			return err
		}
	}
	acting, err := p.As(account)
	if err == nil {
		p.Reconciler = acting
	}
	return err
}

// records are those of the instance's release; the cluster deletes them with it.
func (p *pass) records() release.Records {
	records := p.Reconciler.records()
	records.Owners = []metav1.OwnerReference{resource.OwnerReference(p.in, false)}
	return records
}

// write writes the status, if it is not what it was.
func (p *pass) write(ctx context.Context) error {
	p.verdicts.Apply(p.in, p.Now())
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

// changing is a change, with the record of what there is and of what is to be.
type changing struct {
	todo          change
	current, next *helm.Release
	installed     bool // any revision was applied as a whole
	// before is what is installed, objects what is to be, and attempted what may have been
	// left by attempts that were not completed.
	before, objects, attempted []*unstructured.Unstructured
	// ahead are those that are applied before all others where a certificate is renewed: what is there and is to trust
	// it, and then the Secrets.
	ahead [][]*unstructured.Unstructured
}

// change is what a pass has to do about a release.
type change int

const (
	toInstall change = iota
	toUpgrade
	toRepair
)

// reason is what a failed change is called on the instance.
func (c change) reason() string {
	switch c {
	case toInstall:
		return v1alpha1.ReasonInstallFailed
	case toUpgrade:
		return v1alpha1.ReasonUpgradeFailed
	}
	return v1alpha1.ReasonReconcileFailed
}

func (c change) action() v1.BundleAction {
	return [...]v1.BundleAction{v1.BundleInstalled, v1.BundleUpgraded, v1.BundleUnchanged}[c]
}

// sameValues compares values as Helm records them.
func sameValues(a, b map[string]any) bool { return len(a)+len(b) == 0 || resource.Same(a, b) }

// decide compares the newest record of a release with what is wanted. One that was not
// completed is done again, whatever it says; installed says whether any ever was.
func decide(current, wanted *helm.Release, installed bool) change {
	switch {
	case current == nil, !installed:
		return toInstall
	case current.Info.Status != helm.StatusDeployed:
		return toUpgrade
	case current.Manifest != wanted.Manifest || !sameValues(current.Config, wanted.Config):
		return toUpgrade
	}
	return toRepair
}
