package instance

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	helm "helm.sh/helm/v3/pkg/release"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/apply/live"
	"github.com/berthdev/berth/internal/bundle/format"
	"github.com/berthdev/berth/internal/bundle/resource"
	"github.com/berthdev/berth/internal/chart/manifest"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/release"
)

// namespaceOf is where the objects of an instance go that name none, unless their bundle
// says so.
func (r Reconciler) namespaceOf(c v1alpha1.Config) string { return cmp.Or(c.Namespace, r.System) }

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

// change is what a pass has to do about a release.
type change int

const (
	toInstall change = iota
	toUpgrade
	toRepair
)

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
	return p.look(ctx, applier, p.outcome.Changes.With(apply.Created, apply.Updated, apply.Unchanged).Objects())
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

// Applier applies the objects of an instance.
func (r Reconciler) Applier(name, namespace string) apply.Applier {
	return apply.Applier{
		Client: r.Installs.Dynamic, Discovery: &remembered{ServerResourcesInterface: r.Installs.Discovery()},
		Namespace: namespace, Owner: r.owner(name), Force: r.Force, StrictFields: true,
	}
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

// conform compares the custom resources of a package with the definitions that the cluster has of their kinds, before
// anything is written. A field that such a definition lacks is refused, not left out: the cluster may get the
// definition that has it, and what is recorded would lack it then. A kind that the cluster does not have is left to
// what places the objects.
func (r Reconciler) conform(ctx context.Context, pkg *format.Package) error {
	known, why := manifest.Definitions{}, map[schema.GroupVersionKind]string{}
	var rest []manifest.Unknown
	var problems []string
	for _, u := range pkg.Unknown {
		gvk := u.Object.GroupVersionKind()
		if _, asked := why[gvk]; u.Elsewhere && !asked {
			var err error
			if why[gvk], err = r.definitionOf(ctx, gvk, known); err != nil {
				return err
			}
		}
		switch reason := why[gvk]; {
		case !u.Elsewhere:
			rest = append(rest, u)
			continue
		case reason != "":
			rest = append(rest, manifest.Unknown{Object: u.Object, Reason: reason})
			continue
		}
		fitted := u.Object.DeepCopy()
		fit := known.Fit(fitted)
		name := u.Object.GetKind() + " " + u.Object.GetName() + ": "
		for _, field := range fit.Absent {
			problems = append(problems, fault.Line(name+field+" is not a field in the definition that the cluster has"))
		}
		for _, text := range fit.Refused {
			problems = append(problems, fault.Line(name+text))
		}
		for _, text := range fit.Dropped {
			pkg.Warnings = append(pkg.Warnings, fault.Line(name+text))
		}
		if len(fit.Absent) == 0 {
			u.Object.Object = fitted.Object
		}
		if u, is := known.Unknown(u.Object); is {
			rest = append(rest, u)
		}
	}
	pkg.Unknown = rest
	if len(problems) > 0 {
		return format.Invalid(pkg.Format, problems)
	}
	return nil
}

// definitionOf adds the definition that the cluster has of a kind, or says why there is none to compare with.
func (r Reconciler) definitionOf(ctx context.Context, gvk schema.GroupVersionKind, known manifest.Definitions) (
	why string, err error,
) {
	resource, there, err := r.Applier("", "").ResourceOf(ctx, gvk)
	if err != nil {
		return "", err
	}
	if !there {
		return "the cluster does not have its kind", nil
	}
	name := resource.GroupResource().String()
	definition, err := r.Installs.Dynamic.Resource(definitions()).Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Sprintf("its kind has no definition (%s): another API server serves it", name), nil
	case apierrors.IsForbidden(err):
		return fmt.Sprintf("the definition of its kind (%s) may not be read", name), nil
	case err != nil:
		return "", kube.Fault(err, kube.Call{Verb: "get", Resource: definitions().GroupResource().String(), Name: name})
	}
	known.Add(definition)
	return "", nil
}

// definitions are where the API server has those of custom resources.
func definitions() schema.GroupVersionResource {
	return schema.GroupVersionResource{
		Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
	}
}
