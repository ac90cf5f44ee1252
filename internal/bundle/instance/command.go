package instance

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/apply/live"
	"github.com/berthdev/berth/internal/bundle/resource"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/lock"
)

// Install brings a request about: the objects that say so are written, and then what
// they say is done, by this process or by a server that leads.
func (r Reconciler) Install(ctx context.Context, q Request, k Snapshot, steps *event.Steps) (Outcome, error) {
	if k.Instance != nil {
		if err := resource.CheckUsable(k.Instance); err != nil {
			return Outcome{}, err
		}
	}
	wanted, err := instanceOf(q)
	if err == nil && (k.Instance == nil || k.Instance.Status.InstalledBundleName == "") {
		err = r.checkPlaces(ctx, q)
	}
	if err != nil {
		return Outcome{}, err
	}
	p := &pass{Reconciler: r, steps: steps, until: q.Until, bundles: k.Bundles, requested: true}
	p.found = found{content: q.Content, resolved: q.Resolved, pkg: q.Package, release: k.Release}
	if !k.Undefined {
		leader, err := r.leader(ctx, wanted.Spec.ProvisionerClassName)
		if err != nil {
			return Outcome{}, err
		}
		if leader != "" {
			out, err := p.leaveTo(ctx, leader, wanted, k.Instance)
			return out, remains(p.in, err)
		}
	}
	if p.held, err = r.lockDefined(ctx, q.Name, k); err != nil {
		return Outcome{}, err
	}
	defer releaseLock(ctx, p.held)
	now, err := r.fresh(ctx, q.Name)
	if k.Undefined && fault.CodeOf(err) == fault.NotFound { // the kinds have just been defined
		now, err = Snapshot{}, nil
	}
	if err == nil {
		err = resource.CheckUnchanged(q.Name, k.Instance, now.Instance)
	}
	if err != nil {
		return Outcome{}, err
	}
	p.bundles = now.Bundles
	if p.in, err = r.objects().SetInstance(ctx, wanted, now.Instance); err != nil {
		return Outcome{}, err
	}
	out, err := p.run(ctx)
	return out, remains(p.in, err)
}

// lockDefined takes the lock; in a cluster that has never seen a bundle, once the kinds and
// the namespace are there.
func (r Reconciler) lockDefined(ctx context.Context, name string, k Snapshot) (held *lock.Lock, err error) {
	if !k.Undefined {
		held, err = r.lock(ctx, name, forInstall, nil)
		if !kube.IsNamespaceMissing(err) {
			return held, err
		}
	}
	if err := r.define(ctx); err != nil {
		return nil, err
	}
	return r.lock(ctx, name, forInstall, nil)
}

// Preview is what a request would change in the objects of its bundle. Nothing is written;
// in a dry run by the API server, it checks what would be.
func (r Reconciler) Preview(ctx context.Context, q Request, k Snapshot, dry apply.DryRun) (apply.Changes, error) {
	in := &v1alpha1.Instance{}
	if k.Instance != nil {
		if err := resource.CheckUsable(k.Instance); err != nil {
			return nil, err
		}
		in = k.Instance
	}
	r, err := r.As(q.ServiceAccount)
	if err != nil {
		return nil, err
	}
	h, err := r.history(ctx, q.Name, k.Release)
	if err != nil {
		return nil, err
	}
	applier := r.Applier(q.Name, cmp.Or(q.Package.Namespace, r.namespaceOf(q.Config)))
	applier.DryRun, applier.Live = dry, live.New(r.Installs.Dynamic, v1alpha1.LabelOwnerName+"="+q.Name)
	defer applier.Live.Close()
	objects, err := placed(ctx, applier, in, q.Package)
	if err != nil {
		return nil, err
	}
	if err := applier.Watch(ctx, slices.Concat(objects, h.installed)); err != nil {
		return nil, err
	}
	if err := watchAttempted(ctx, applier, h.attempted); err != nil {
		return nil, err
	}
	set, err := r.certificates(ctx, applier, objects, true)
	if err != nil {
		return nil, err
	}
	if set != nil {
		objects = set.Fill(objects)
	}
	changes, err := applier.Apply(ctx, apply.Objects(objects))
	if err != nil {
		return nil, inBundle(err)
	}
	removed, err := applier.Remove(ctx, leftovers(applier, objects))
	return append(changes.With(apply.Created, apply.Updated), removed...), err
}

// checkPlaces finds out before anything is written whether the cluster has the kinds and the
// namespaces of a bundle's objects. A namespace that the caller may not read is taken to exist.
func (r Reconciler) checkPlaces(ctx context.Context, q Request) error {
	objects, err := r.Applier(q.Name, cmp.Or(q.Package.Namespace, r.namespaceOf(q.Config))).
		Placed(ctx, q.Package.Objects)
	if err != nil {
		return err
	}
	wanted := map[string]bool{}
	for _, object := range objects {
		wanted[object.GetNamespace()] = true
	}
	delete(wanted, "")
	delete(wanted, r.System) // is created with the first lock
	for _, object := range slices.Concat(objects, hookObjects(q.Package)) {
		if object.GetKind() == "Namespace" {
			delete(wanted, object.GetName())
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(lookedAt)
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		group.Go(func() error { return r.checkNamespace(ctx, name, q.Config.Namespace) })
	}
	return group.Wait()
}

// checkNamespace is an error if a namespace does not exist; asked is that of the command line.
func (r Reconciler) checkNamespace(ctx context.Context, name, asked string) error {
	_, err := r.Own.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
	if !apierrors.IsNotFound(err) {
		return nil // what else goes wrong is met again by what is written
	}
	err = kube.Fault(err, kube.Call{Verb: "get", Resource: "namespaces", Namespace: name, Name: name})
	if name == asked {
		return err
	}
	return fault.From(err).WithHint("it is where an object of the bundle is to be: create it with `kubectl create "+
		"namespace %s`, or add it to the bundle", name)
}

// remains says of a first installation that has failed that its instance stands, though nothing
// of the bundle may; in is nil if it was not written.
func remains(in *v1alpha1.Instance, err error) error {
	if err == nil || in == nil || in.Status.InstalledBundleName != "" {
		return err
	}
	f := *fault.From(err)
	f.Hint = strings.TrimPrefix(f.Hint+"; ", "; ") + "bundle " + in.Name +
		" is listed though it is not installed: install it again, or remove it with `berth bundle uninstall " +
		in.Name + "`"
	return &f
}

// define makes sure that the cluster has the kinds Bundle and BundleInstance, and the
// system namespace. Definitions that are there are left alone: they may be newer, or
// another program's.
func (r Reconciler) define(ctx context.Context) error {
	objects, err := resource.Definitions()
	if err != nil {
		return err
	}
	err = r.share(ctx, append(objects, kube.Named("Namespace", r.System))...)
	if fault.CodeOf(err) == fault.PermissionDenied {
		return fault.New(fault.PermissionDenied,
			"the cluster does not have the kinds Bundle and BundleInstance or the namespace %s, and you may "+
				"not create them: %w", r.System, err).
			WithHint("ask an administrator to run `%s`, and `kubectl create namespace %s`", resource.DefinitionsCommand,
				r.System)
	}
	return err
}

// CreateNamespace makes sure that a namespace exists. It belongs to no instance.
func (r Reconciler) CreateNamespace(ctx context.Context, name string) error {
	return r.share(ctx, kube.Named("Namespace", name))
}

// share creates those of the objects that do not exist, for everybody.
func (r Reconciler) share(ctx context.Context, objects ...*unstructured.Unstructured) error {
	a := r.Applier("", "")
	a.Owner, a.Shared = apply.Owner{Name: "berth"}, true
	_, err := a.Apply(ctx, apply.Objects(objects))
	return err
}
