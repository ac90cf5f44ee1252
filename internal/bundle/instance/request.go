package instance

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/apply/hooks"
	"github.com/berthdev/berth/internal/apply/live"
	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/bundle/format"
	"github.com/berthdev/berth/internal/bundle/resource"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/lock"
)

// Request is what somebody at a terminal wants to have installed.
type Request struct {
	Name string
	// Source is what the content was fetched from, and Resolved what exactly that was; of
	// content that is local, an upload.
	Source, Resolved v1alpha1.Source
	Content          *content.Content
	// Class is that of the content's format, and Package what the content is: see Load.
	Class   string
	Package *format.Package
	// Format is what the content is to be read as; empty if that is to be recognized.
	Format format.Format
	Config v1alpha1.Config
	// ServiceAccount is as what it is installed; nil for the caller, or the server's installer.
	ServiceAccount *v1alpha1.ServiceAccount
	// KeepValues installs a chart with the values of the last installation; see Load.
	KeepValues bool
	// KeepWatch has an operator watch the namespaces that it has watched; see Load.
	KeepWatch bool
	Until     Until
	// Revision is the one that is to be had again; 0 for what is new. See Earlier.
	Revision int
	// Charts are the versions of what its chart depended on, as PATH VERSION: whoever fetches it again takes these.
	Charts []string
}

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

// instanceOf is the object that says what is requested.
func instanceOf(q Request) (*v1alpha1.Instance, error) {
	text, err := json.Marshal(q.Config)
	if err != nil {
		return nil, err
	}
	in := &v1alpha1.Instance{Spec: v1alpha1.InstanceSpec{
		ProvisionerClassName: q.Class, Config: text, ServiceAccount: q.ServiceAccount,
		Template: v1alpha1.Template{
			// Other content from the same place is another bundle.
			Metadata: v1alpha1.TemplateMeta{
				Annotations: map[string]string{v1alpha1.AnnotationContent: q.Content.Digest},
			},
			Spec: v1alpha1.BundleSpec{ProvisionerClassName: q.Class, Source: q.Source},
		},
	}}
	if len(q.Charts) > 0 {
		in.Spec.Template.Metadata.Annotations[v1alpha1.AnnotationCharts] = strings.Join(q.Charts, ",")
	}
	in.Name = q.Name
	return in, nil
}

// formatOf is what the content of a request is read as, by which it gets its class if it has none. Where that does not
// follow from the content and the class, the instance says it.
func formatOf(q *Request) (found format.Format, err error) {
	switch {
	case q.Format == "" && q.Class == "":
		found, err = format.Recognize(q.Content.FS())
	case q.Format == "":
		found, err = contentOf(q.Content, q.Class, q.Config)
	default:
		found = q.Format
	}
	if err != nil {
		return "", err
	}
	if q.Class == "" {
		q.Class = resource.ClassOf(found)
	}
	if q.Format != "" && q.Format != q.Format.Base() {
		q.Config.Format = string(q.Format)
	}
	return found, nil
}

// contentOf is what content is read as by an instance that has a bundle of a class.
func contentOf(c *content.Content, class string, conf v1alpha1.Config) (format.Format, error) {
	wanted := resource.FormatOf(class)
	switch asked := format.Format(conf.Format); {
	case wanted != format.Plain:
		return wanted, nil
	case asked == "":
		found, err := format.RecognizeAs(c.FS(), wanted)
		if found.Base() != wanted {
			found = wanted // which says what is missing
		}
		return found, err
	case asked.Base() != wanted:
		return "", fault.New(fault.InvalidArgument, "spec.config.format %q is not one of class %s", asked, class).
			WithHint("leave it out, or use %s or %s", format.YAML, format.Kustomize)
	default:
		return asked, nil
	}
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
