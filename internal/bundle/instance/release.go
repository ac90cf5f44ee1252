package instance

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	helm "helm.sh/helm/v3/pkg/release"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/apply/hooks"
	"github.com/berthdev/berth/internal/bundle/format"
	"github.com/berthdev/berth/internal/bundle/resource"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/release"
)

// keptRevisions is how many revisions of a release are kept, as Helm keeps them.
const keptRevisions = 10

// nextRelease is the record of what is about to be installed.
func nextRelease(name, namespace string, from origin, pkg *format.Package, objects []*unstructured.Unstructured,
	current *helm.Release, now time.Time,
) (*helm.Release, error) {
	manifest, err := release.Manifest(objects)
	if err != nil {
		return nil, err
	}
	c := release.Content{Chart: pkg.Chart, Config: pkg.Values, Manifest: manifest, Notes: pkg.Notes}
	if c.Chart == nil {
		c.Chart = release.Plain(cmp.Or(pkg.Name, name), cmp.Or(pkg.Version, noVersion))
	}
	c.Chart = from.from(c.Chart)
	for i := range pkg.Hooks {
		c.Hooks = append(c.Hooks, &pkg.Hooks[i].Hook)
	}
	return release.NewRevision(name, namespace, c, current, now), nil
}

// installed is the newest revision of a release that was applied as a whole, nil if there
// is none.
func (r Reconciler) installed(ctx context.Context, name string, latest *helm.Release) (*helm.Release, error) {
	if latest == nil || latest.Info.Status == helm.StatusDeployed {
		return latest, nil
	}
	return r.records().Installed(ctx, name)
}

// inBundle says what to do about an object of a bundle that the API server refuses, or of
// which others have set a part.
func inBundle(err error) error {
	_, refused := errors.AsType[*kube.RefusedError](err)
	f := *fault.From(err)
	switch {
	case refused:
		return f.WithHint("change what the message names in the bundle, or ask the administrator of the cluster")
	case f.Reason == apply.ReasonNothingWritten:
		return f.WithHint("undo the changes that are named, or take the fields over with --force-conflicts; nothing " +
			"has been written")
	}
	return err
}

// conclude writes how an installation or an upgrade ended.
func (p *pass) conclude(ctx context.Context, next *helm.Release, failure error) error {
	if ctx.Err() != nil {
		return failure // it stays pending, and the next pass goes on
	}
	if failure == nil {
		return p.records().Succeeded(ctx, next, keptRevisions, p.Now())
	}
	alike := func(r *helm.Release) bool { return originIn(r) != "" && originIn(r) == originIn(next) }
	if err := p.records().Failed(ctx, next, fault.Shorten(failure.Error(), resource.MaxMessage), keptRevisions,
		alike); err != nil {
		return err
	}
	return failure
}

// hookTime is how long a hook may take, as in Helm.
const hookTime = 5 * time.Minute

// runHooks runs the hooks of a chart before or after a change. A repair has none.
func (p *pass) runHooks(ctx context.Context, applier apply.Applier, pkg *format.Package, when string,
	todo change,
) error {
	event := map[change]string{toInstall: "install", toUpgrade: "upgrade"}[todo]
	all := hooksOf(pkg)
	if event == "" || len(hooks.At(all, when+"-"+event)) == 0 {
		return nil
	}
	return p.steps.Do(when+"-"+event, func() (string, error) {
		applier.Report = nil
		return "", hooks.Run(ctx, applier, all, when+"-"+event, hookTime, func(h hooks.Hook) {
			p.steps.Note("running hook %s", kube.Object(h.Object.GetKind(), h.Object.GetName()))
		})
	})
}

// hookObjects are the objects of the hooks of a chart.
func hookObjects(pkg *format.Package) (objects []*unstructured.Unstructured) {
	for i := range pkg.Hooks {
		objects = append(objects, pkg.Hooks[i].Object)
	}
	return objects
}

// hooksOf are the hooks of a chart as the applier has them.
func hooksOf(pkg *format.Package) (all []hooks.Hook) {
	for i := range pkg.Hooks {
		all = append(all, hookOf(&pkg.Hooks[i].Hook, pkg.Hooks[i].Object))
	}
	return all
}

func hookOf(h *helm.Hook, object *unstructured.Unstructured) hooks.Hook {
	hook := hooks.Hook{Object: object, Weight: h.Weight}
	for _, event := range h.Events {
		hook.Events = append(hook.Events, string(event))
	}
	for _, policy := range h.DeletePolicies {
		hook.Delete = append(hook.Delete, hooks.Policy(policy))
	}
	return hook
}

// history is what is recorded of a release.
type history struct {
	deployed  *helm.Release // the newest revision that was applied as a whole; nil if there is none
	installed []*unstructured.Unstructured
	// attempted are the objects of the revisions after that one: none was completed, and each
	// may have left some.
	attempted []*unstructured.Unstructured
}

// history reads what is recorded of a release whose newest record has been read.
func (r Reconciler) history(ctx context.Context, name string, latest *helm.Release) (h history, err error) {
	if h.deployed, err = r.installed(ctx, name, latest); err != nil {
		return h, err
	}
	after := 0
	if h.deployed != nil {
		after = h.deployed.Version
		if h.installed, err = release.Objects(h.deployed.Manifest); err != nil {
			return h, err
		}
	}
	if latest == nil || latest.Version == after {
		return h, nil
	}
	attempts, err := r.records().After(ctx, name, after)
	if err != nil {
		return h, err
	}
	for _, attempt := range attempts {
		objects, err := release.Objects(attempt.Manifest)
		if err != nil {
			return h, err
		}
		h.attempted = append(h.attempted, objects...)
	}
	return h, nil
}

// watchAttempted lets the applier know what attempts have left. A kind that may not be
// watched is passed over: it may be why the attempt failed.
func watchAttempted(ctx context.Context, applier apply.Applier, attempted []*unstructured.Unstructured) error {
	for _, object := range attempted {
		err := applier.Watch(ctx, []*unstructured.Unstructured{object})
		if err != nil && fault.CodeOf(err) != fault.PermissionDenied {
			return err
		}
	}
	return nil
}

// leftovers are what the instance has installed and its bundle does not have any more,
// but for definitions, what is marked to be kept, and what hooks have made.
func leftovers(applier apply.Applier, objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	var mine []*unstructured.Unstructured
	for _, object := range applier.Live.Objects() {
		if applier.Owner.Owns(object) && object.GetDeletionTimestamp() == nil {
			mine = append(mine, object)
		}
	}
	remove, _ := apply.Leftovers(mine, objects, applier.Namespace)
	return slices.DeleteFunc(remove, hooks.IsHook)
}

// recorded is what is deployed, as the package that it was made of; nil if the newest
// record is not that, or if something else is wanted.
func recorded(current *helm.Release, wanted origin) (*format.Package, error) {
	if originIn(current) != wanted.hash() || current.Info.Status != helm.StatusDeployed {
		return nil, nil
	}
	objects, err := release.Objects(current.Manifest)
	if err != nil {
		return nil, err
	}
	p := &format.Package{
		Format: resource.FormatOf(wanted.Class), Objects: objects, Notes: current.Info.Notes,
		Recorded: true,
	}
	if p.Format != format.Plain {
		p.Name, p.Version = current.Chart.Metadata.Name, current.Chart.Metadata.Version
	}
	return p, nil
}

// recorded is what is deployed of a bundle, if nothing else is wanted. Neither the
// content of the bundle nor its templates are asked for it then.
func (p *pass) recorded(b *v1alpha1.Bundle, current *helm.Release) (*format.Package, error) {
	c, err := resource.ConfigOf(p.in)
	if err != nil || resource.IsOurs(b.Spec.ProvisionerClassName) && !p.unpacker(v1alpha1.KindInstance).IsUnpacked(b) ||
		resource.VerdictOf(b).Status != metav1.ConditionTrue {
		return nil, nil //nolint:nilerr // it is said where the content is read
	}
	class, err := resource.ReadAs(p.in, b)
	if err != nil {
		return nil, nil //nolint:nilerr // likewise
	}
	return recorded(current, p.originOf(p.in, b, class, c))
}
