package instance

import (
	"context"
	"fmt"
	"slices"

	helm "helm.sh/helm/v3/pkg/release"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/apply/live"
	"github.com/berthdev/berth/internal/bundle/format"
	"github.com/berthdev/berth/internal/english"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/release"
)

// config reads what an instance sets.
func config(in *v1alpha1.Instance) (c v1alpha1.Config, err error) {
	if len(in.Spec.Config) == 0 {
		return c, nil
	}
	if err := strictly(in.Spec.Config, &c); err != nil {
		return c, fault.New(fault.InvalidArgument, "the config of instance %s cannot be read: %w", in.Name, err).
			WithHint("of berth's classes it has values (a text of YAML) and namespace")
	}
	return c, nil
}

// namespaceOf is where the objects of an instance go that name none.
func (r Reconciler) namespaceOf(c v1alpha1.Config) string {
	if c.Namespace != "" {
		return c.Namespace
	}
	return r.System
}

// load reads the content as what its class says, unless that is known already.
func (p *pass) load(ctx context.Context) (*format.Package, error) {
	if p.found.pkg != nil {
		return p.found.pkg, nil
	}
	c, err := config(p.in)
	if err != nil {
		return nil, err
	}
	return p.Load(ctx, p.found.content, p.in.Name, p.in.Spec.ProvisionerClassName, c)
}

// change is what a pass has to do about a release.
type change int

const (
	toInstall change = iota
	toUpgrade
	toRepair
)

// decide compares the newest record of a release with what is wanted. One that was not
// completed is done anew, whatever it says; installed says whether any ever was.
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

// reasons are what a failed change is called on the instance.
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

// install brings the objects of a package to the cluster, and looks at their health.
func (p *pass) install(ctx context.Context, b *v1alpha1.Bundle, pkg *format.Package) error {
	c, err := p.revisions(ctx)
	if err != nil {
		p.verdicts.installed = unknown(v1alpha1.ReasonErrorGettingReleaseState, why(err))
		return err
	}
	view := live.New(p.Client.Dynamic, v1alpha1.LabelOwnerName+"="+p.in.Name)
	defer view.Close()
	applier := p.applier(pkg, view)
	if c.objects, err = applier.Placed(ctx, owned(p.in, pkg.Objects)); err == nil {
		c.next, err = nextRelease(p.in.Name, p.System, pkg, c.objects, c.current, p.Now())
	}
	if err == nil {
		c.todo = decide(c.current, c.next, c.installed)
		p.outcome.Action, p.outcome.Notes = c.todo.action(), pkg.Notes
		err = p.carryOut(ctx, applier, pkg, c)
	}
	if err != nil {
		if !c.installed {
			p.verdicts.healthy = unknown(v1alpha1.ReasonInstallationStatusFalse, "nothing is installed yet")
		}
		p.verdicts.installed = no(c.todo.reason(), required(err))
		return err
	}
	p.in.Status.InstalledBundleName = b.Name
	p.verdicts.installed = yes(v1alpha1.ReasonInstallationSucceeded, "bundle "+b.Name+" is installed")
	return p.look(ctx, applier, p.outcome.Changes.With(apply.Created, apply.Updated, apply.Unchanged).Objects())
}

// revisions reads what is recorded of the release.
func (p *pass) revisions(ctx context.Context) (c changing, err error) {
	if c.current, err = p.records().Latest(ctx, p.in.Name); err != nil || c.current == nil {
		return c, err
	}
	installed, err := p.installed(ctx, p.in.Name, c.current)
	if err != nil || installed == nil {
		return c, err
	}
	c.installed, c.todo = true, toUpgrade
	c.before, err = release.Objects(installed.Manifest)
	return c, err
}

// applier applies the objects of the instance under the pass's lock.
func (p *pass) applier(pkg *format.Package, view *live.View) apply.Applier {
	c, _ := config(p.in) // has been read
	namespace := p.namespaceOf(c)
	if pkg.Namespace != "" {
		namespace = pkg.Namespace
	}
	a := p.Applier(p.in.Name, namespace)
	a.Live = view
	if p.held != nil {
		a.Fence = p.held
	}
	return a
}

// Applier applies the objects of an instance.
func (r Reconciler) Applier(name, namespace string) apply.Applier {
	return apply.Applier{
		Client: r.Client.Dynamic, Discovery: &remembered{ServerResourcesInterface: r.Client.Discovery()},
		Namespace: namespace, Owner: r.owner(name), Force: r.Force,
	}
}

// owned are copies of the objects that the cluster deletes with the instance. Definitions
// are not among them, for their objects would go with them, nor namespaces, in which
// others may work.
func owned(in *v1alpha1.Instance, objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	all := make([]*unstructured.Unstructured, len(objects))
	for i, object := range objects {
		all[i] = object.DeepCopy()
		switch object.GetKind() {
		case "CustomResourceDefinition", "Namespace":
		default:
			if in.UID != "" {
				all[i].SetOwnerReferences(append(all[i].GetOwnerReferences(), ownedBy(in, false)))
			}
		}
	}
	return all
}

// changing is a change, with the record of what there is and of what is to be.
type changing struct {
	todo          change
	current, next *helm.Release
	installed     bool // any revision was applied as a whole
	// before is what is installed, and objects what is to be.
	before, objects []*unstructured.Unstructured
}

// carryOut makes a change: the record of an installation or an upgrade is written before
// and after the objects. A repair has none.
func (p *pass) carryOut(ctx context.Context, applier apply.Applier, pkg *format.Package, c changing) error {
	if c.todo == toRepair {
		p.outcome.Revision = c.current.Version
		return p.applyAll(ctx, applier, c)
	}
	p.outcome.Revision = c.next.Version
	if err := p.records().Create(ctx, c.next); err != nil {
		return err
	}
	err := p.runHooks(ctx, applier, pkg, "pre", c.todo)
	if err == nil {
		err = p.applyAll(ctx, applier, c)
	}
	if err == nil {
		err = p.runHooks(ctx, applier, pkg, "post", c.todo)
	}
	return p.conclude(ctx, c.next, err)
}

// applyAll applies the objects and removes those that are not wanted any more.
func (p *pass) applyAll(ctx context.Context, applier apply.Applier, c changing) error {
	return p.steps.Do("install", func() (string, error) {
		if c.current != nil {
			if err := applier.Watch(ctx, slices.Concat(c.objects, c.before)); err != nil {
				return "", err
			}
		}
		applier.Report, applier.First = p.reporter(len(c.objects)), c.current == nil
		changes, err := applier.Apply(ctx, apply.Objects(c.objects))
		p.outcome.Changes = changes
		if err != nil {
			return "", p.rollBack(ctx, applier, c.before, inBundle(err))
		}
		if c.current != nil { // at first there is nothing to be left over
			var removed apply.Changes
			removed, err = applier.Remove(ctx, leftovers(applier, c.objects))
			p.outcome.Changes = append(p.outcome.Changes, removed...)
		}
		return english.Plural(len(c.objects), "object"), err
	})
}

// reporter tells of each object as it is done.
func (p *pass) reporter(total int) func(apply.Change) {
	var done int64
	return func(c apply.Change) {
		done++
		p.steps.Progress(v1.Progress{Message: fmt.Sprintf("%s %s/%s", c.Action, c.Object.GetKind(), c.Object.GetName()), Done: done, Total: int64(total)})
	}
}

// rollBack puts the objects of the recorded release back where an upgrade has failed in
// the middle, and removes those that it has added. It returns why it failed, and what
// could not be put back.
func (p *pass) rollBack(ctx context.Context, applier apply.Applier, before []*unstructured.Unstructured, because error) error {
	if len(before) == 0 || ctx.Err() != nil {
		return because
	}
	p.steps.Note("putting back what was installed")
	applier.Force, applier.Report = true, nil
	_, err := applier.Apply(ctx, apply.Objects(before))
	if err == nil {
		var added []*unstructured.Unstructured
		for _, c := range p.outcome.Changes.With(apply.Created) {
			added = append(added, c.Object)
		}
		_, err = applier.Remove(ctx, apply.Without(added, before, applier.Namespace))
	}
	failed := *fault.From(because)
	if err != nil {
		failed.Message += "; what was installed before could not be put back: " + err.Error()
	} else {
		failed.Message += "; what was installed before is back"
	}
	return &failed
}
