package instance

import (
	"cmp"
	"context"
	"errors"
	"time"

	helm "helm.sh/helm/v3/pkg/release"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/apply/hooks"
	"github.com/berthdev/berth/internal/bundle/format"
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
		c.Chart = release.Plain(cmp.Or(pkg.Name, name), cmp.Or(pkg.Version, "0.0.0"))
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

// records are those of the instance's release; the cluster deletes them with it.
func (p *pass) records() release.Records {
	records := p.Reconciler.records()
	records.Owners = []metav1.OwnerReference{ownedBy(p.in, false)}
	return records
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
		return f.WithHint("undo the changes that are named, or take the fields over with --force-conflicts; nothing has been written")
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
	if err := p.records().Failed(ctx, next, fault.Shorten(failure.Error(), maxMessage), keptRevisions, alike); err != nil {
		return err
	}
	return failure
}

// sameValues compares values as Helm records them.
func sameValues(a, b map[string]any) bool { return len(a)+len(b) == 0 || same(a, b) }

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
