package instance

import (
	"cmp"
	"context"
	"slices"

	helm "helm.sh/helm/v3/pkg/release"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/apply/live"
	"github.com/berthdev/berth/internal/bundle/format"
	"github.com/berthdev/berth/internal/bundle/resource"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/release"
	"github.com/berthdev/berth/internal/serve"
)

// load reads the content as what its class says, unless that is known already. That it
// was as it is recorded was before the lock, and is not so any more; and a chart asks for
// the release, which another run may have changed since.
func (p *pass) load(ctx context.Context, b *v1alpha1.Bundle, current *helm.Release) (*format.Package, error) {
	if p.found.pkg != nil && !p.found.pkg.Recorded && sameRecord(p.found.release, current) {
		return p.found.pkg, nil
	}
	c, err := resource.ConfigOf(p.in)
	if err != nil {
		return nil, err
	}
	class, err := resource.ReadAs(p.in, b)
	if err != nil {
		return nil, err
	}
	found, err := contentOf(p.found.content, class, c)
	if err != nil {
		return nil, err
	}
	return p.read(ctx, p.found.content, p.in.Name, found, c, current)
}

// sameRecord says whether two reads have found the same record of a release, or none.
func sameRecord(a, b *helm.Release) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Version == b.Version && release.SameVersion(a, b)
}

// install brings the objects of a package to the cluster, and looks at their health.
func (p *pass) install(ctx context.Context, b *v1alpha1.Bundle, pkg *format.Package, c changing) error {
	view := live.New(p.Installs.Dynamic, v1alpha1.LabelOwnerName+"="+p.in.Name)
	defer view.Close()
	applier := p.applier(pkg, view)
	p.looked = true
	err := p.plan(ctx, applier, b, pkg, &c)
	if err == nil {
		p.outcome.Action, p.outcome.Notes = c.todo.action(), pkg.Notes
		err = p.execute(ctx, applier, pkg, c)
	}
	p.observe(ctx, applier, c)
	if err != nil {
		err = ended(ctx, p.denied(err))
		p.verdicts.Healthy = resource.Unknown(v1alpha1.ReasonInstallationStatusFalse, "nothing is installed yet")
		if c.installed {
			p.verdicts.Healthy.Message = "it has not been looked at since the bundle could not be installed"
		}
		p.verdicts.Installed = resource.No(c.todo.reason(), required(err))
		return err
	}
	p.in.Status.InstalledBundleName = b.Name
	p.verdicts.Installed = resource.Yes(v1alpha1.ReasonInstallationSucceeded, "bundle "+b.Name+" is installed")
	return p.checkHealth(ctx, applier, p.outcome.Changes.With(apply.Created, apply.Updated, apply.Unchanged).Objects())
}

// plan says what is to be done about the release.
func (p *pass) plan(ctx context.Context, applier apply.Applier, b *v1alpha1.Bundle, pkg *format.Package,
	c *changing,
) (err error) {
	if c.objects, err = placed(ctx, applier, p.in, pkg); err != nil {
		return err
	}
	if err := p.Reserved.Check(slices.Concat(c.objects, hookObjects(pkg)), applier.Namespace); err != nil {
		return err
	}
	if pkg.Recorded {
		c.todo = toRepair
		return nil
	}
	conf, _ := resource.ConfigOf(p.in) // has been read
	class, err := resource.ReadAs(p.in, b)
	if err != nil {
		return err
	}
	from := p.originOf(p.in, b, class, conf)
	from.made.Charts = pkg.Charts
	c.next, err = nextRelease(p.in.Name, p.System, from, pkg, c.objects, c.current, p.Now())
	if err == nil {
		c.todo = decide(c.current, c.next, c.installed)
	}
	return err
}

// revisions reads what is recorded of the release.
func (p *pass) revisions(ctx context.Context) (c changing, err error) {
	if c.current, err = p.records().Latest(ctx, p.in.Name); err != nil || c.current == nil {
		return c, err
	}
	h, err := p.history(ctx, p.in.Name, c.current)
	if err != nil {
		return c, err
	}
	c.before, c.attempted = h.installed, h.attempted
	if c.installed = h.deployed != nil; c.installed {
		c.todo = toUpgrade
	}
	return c, nil
}

// applier applies the objects of the instance under the pass's lock.
func (p *pass) applier(pkg *format.Package, view *live.View) apply.Applier {
	c, _ := resource.ConfigOf(p.in) // has been read
	a := p.Applier(p.in.Name, cmp.Or(pkg.Namespace, p.namespaceOf(c)))
	a.Live, a.Fence = view, p.held
	return a
}

// placed are the objects of a package as they are to be in the cluster. What is recorded
// has its owner already.
func placed(ctx context.Context, applier apply.Applier, in *v1alpha1.Instance,
	pkg *format.Package,
) ([]*unstructured.Unstructured, error) {
	objects := pkg.Objects
	if !pkg.Recorded {
		objects = owned(in, objects)
	}
	return applier.Placed(ctx, objects)
}

// owned are the objects, those that the cluster deletes with the instance with a reference
// to it in metadata of their own. Definitions are not among them, for their objects would go
// with them, nor namespaces, in which others may work, nor what outlives the release.
func owned(in *v1alpha1.Instance, objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	all := make([]*unstructured.Unstructured, len(objects))
	for i, object := range objects {
		all[i] = kube.WithOwnMetadata(object)
		if in.UID != "" && !apply.Outlives(object) {
			all[i].SetOwnerReferences(append(all[i].GetOwnerReferences(), resource.OwnerReference(in, false)))
		}
	}
	return all
}

// leader names the server that reconciles a class all the time; empty without one.
func (r Reconciler) leader(ctx context.Context, class string) (string, error) {
	return serve.Leader(ctx, r.Own.CoordinationV1(), r.System, serve.LeaseName(class), r.Now)
}

// leaveTo writes what is wanted, and follows the server that brings it about.
func (p *pass) leaveTo(ctx context.Context, leader string, wanted, current *v1alpha1.Instance) (_ Outcome, err error) {
	if p.Force {
		return p.outcome, fault.New(fault.InvalidArgument,
			"--force-conflicts cannot be used while %s reconciles the bundles of this cluster: it takes no fields over",
			leader).
			WithHint("undo the changes that are in conflict, and leave out --force-conflicts")
	}
	if err := resource.RequestRetry(wanted, current, p.Now()); err != nil {
		return p.outcome, err
	}
	if p.in, err = p.objects().SetInstance(ctx, wanted, current); err != nil {
		return p.outcome, err
	}
	p.steps.Note("%s reconciles the bundles of this cluster", leader)
	p.outcome.Action = v1.BundleRequested
	if p.in.Spec.Template.Spec.Source.Type == v1alpha1.SourceUpload {
		b, err := p.ensureBundle(ctx)
		if err != nil {
			return p.outcome, err
		}
		p.outcome.Bundle = b.Name
	}
	if p.until == UntilInstalled {
		return p.outcome, nil
	}
	err = p.steps.Do("reconcile", func() (string, error) { return "by " + leader, p.followed(ctx) })
	return p.outcome, err
}

// followed waits until what is wanted is healthy, or has failed.
func (p *pass) followed(ctx context.Context) error {
	api := p.Own.Dynamic.Resource(v1alpha1.Instances())
	only := fields.OneTermEqualSelector("metadata.name", p.in.Name).String()
	source := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			o.FieldSelector = only
			return api.List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			o.FieldSelector = only
			return api.Watch(ctx, o)
		},
	}
	_, err := watchtools.UntilWithSync(ctx, source, &unstructured.Unstructured{}, nil,
		func(e watch.Event) (bool, error) {
			object, is := e.Object.(*unstructured.Unstructured)
			if !is || e.Type == watch.Deleted {
				return true, fault.New(fault.NotFound, "instance %s was deleted", p.in.Name)
			}
			var now v1alpha1.Instance
			if err := resource.Decode(object, &now); err != nil {
				return true, err
			}
			return p.arrived(&now)
		})
	return kube.Fault(err, resource.Call("watch", v1alpha1.Instances(), p.in.Name))
}

// arrived says whether an instance is where it was to be, and tells how far it is.
func (p *pass) arrived(now *v1alpha1.Instance) (bool, error) {
	switch {
	case now.Generation != p.in.Generation:
		return true, fault.New(fault.Conflict,
			"instance %s was changed by another client meanwhile: what becomes of that is not what was asked for here",
			p.in.Name).
			WithHint("`berth bundle status %s` shows it", p.in.Name)
	case now.Status.ObservedGeneration < p.in.Generation:
		return false, nil
	}
	if c := meta.FindStatusCondition(now.Status.Conditions, v1alpha1.ConditionInstalled); c != nil &&
		c.Reason == v1alpha1.ReasonErrorGettingClient {
		return true, fault.New(fault.Failed, "%s: %s", c.Reason, c.Message)
	}
	for _, kind := range []string{v1alpha1.ConditionHasValidBundle, v1alpha1.ConditionInstalled} {
		c := meta.FindStatusCondition(now.Status.Conditions, kind)
		switch {
		case c == nil || c.Status == metav1.ConditionUnknown || c.Reason == v1alpha1.ReasonUnpackPending:
			return false, nil
		case c.Status == metav1.ConditionFalse:
			return true, fault.New(fault.Failed, "%s: %s", c.Reason, c.Message)
		}
	}
	p.outcome.Bundle = now.Status.InstalledBundleName
	c := meta.FindStatusCondition(now.Status.Conditions, v1alpha1.ConditionHealthy)
	if c == nil || c.Status != metav1.ConditionTrue {
		if c != nil && c.Reason == v1alpha1.ReasonReconcileFailed {
			return true, fault.New(fault.Failed, "%s: %s", c.Reason, c.Message)
		}
		if c != nil && c.Reason == v1alpha1.ReasonObjectsFailed {
			return true, fault.New(fault.Failed, "%s", c.Message).
				WithHint("`berth bundle status %s` shows all of its objects", p.in.Name)
		}
		if c != nil {
			p.steps.Note("%s", c.Message)
		}
		return false, nil
	}
	p.outcome.Healthy = true
	return true, nil
}

// required says what is missing on the cluster in the words of this API.
func required(err error) string {
	f := fault.From(err)
	if f.Reason == apply.ReasonKindMissing || kube.IsNamespaceMissing(err) || fault.CodeOf(err) == fault.NotFound {
		return "required resource not found: " + resource.Why(err)
	}
	return resource.Why(err)
}
