package instance

import (
	"context"
	"encoding/json"
	"maps"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/bundle/format"
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
	Config  v1alpha1.Config
	// ServiceAccount is as what it is installed; nil for the caller, or the server's installer.
	ServiceAccount *v1alpha1.ServiceAccount
	// KeepValues installs a chart with the values of the last installation; see Load.
	KeepValues bool
	Until      Until
}

// Install brings a request about: the objects that say so are written, and then what
// they say is done, by this process or by a server that leads.
func (r Reconciler) Install(ctx context.Context, q Request, k Known, steps *event.Steps) (Outcome, error) {
	if k.Instance != nil {
		if err := usable(k.Instance); err != nil {
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
		now, err = Known{}, nil
	}
	if err == nil {
		err = unchanged(q.Name, k.Instance, now.Instance)
	}
	if err != nil {
		return Outcome{}, err
	}
	p.bundles = now.Bundles
	if p.in, err = r.setInstance(ctx, wanted, now.Instance); err != nil {
		return Outcome{}, err
	}
	out, err := p.run(ctx)
	return out, remains(p.in, err)
}

// lockDefined takes the lock; in a cluster that has never seen a bundle, once the kinds and
// the namespace are there.
func (r Reconciler) lockDefined(ctx context.Context, name string, k Known) (held *lock.Lock, err error) {
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

// usable refuses an instance that is somebody else's work, or on its way out.
func usable(in *v1alpha1.Instance) error {
	switch {
	case in.DeletionTimestamp != nil:
		return fault.New(fault.Conflict, "instance %s is being deleted", in.Name).
			WithHint("try again when it is gone: kubectl get bundleinstances.core.rukpak.io %s", in.Name)
	case !IsOurs(in.Spec.ProvisionerClassName):
		return fault.New(fault.Conflict, "instance %s is of class %s, which berth does not reconcile", in.Name,
			in.Spec.ProvisionerClassName).
			WithHint("choose another name, or change it with the program whose class that is")
	}
	return nil
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
			Metadata: v1alpha1.TemplateMeta{Annotations: map[string]string{v1alpha1.AnnotationContent: q.Content.Digest}},
			Spec:     v1alpha1.BundleSpec{ProvisionerClassName: q.Class, Source: q.Source},
		},
	}}
	in.Name = q.Name
	return in, nil
}

// setInstance creates the instance, or changes the one that was read if it says something
// else.
func (r Reconciler) setInstance(ctx context.Context, wanted, current *v1alpha1.Instance) (*v1alpha1.Instance, error) {
	wanted.TypeMeta = typeMeta(v1alpha1.KindInstance)
	api := r.Own.Dynamic.Resource(v1alpha1.Instances())
	made := &v1alpha1.Instance{}
	if current == nil {
		object, err := untyped(wanted)
		if err != nil {
			return nil, err
		}
		created, err := create(ctx, r.Own.Dynamic, v1alpha1.Instances(), object, strictness(wanted))
		if err != nil {
			return nil, kube.Fault(err, call("create", v1alpha1.Instances(), wanted.Name))
		}
		return made, typed(created, made)
	}
	annotations := installedAnnotations(current.Annotations)
	if same(current.Spec, wanted.Spec) && maps.Equal(annotations, current.Annotations) {
		return current, nil
	}
	patch, err := json.Marshal([]map[string]any{
		{"op": "test", "path": "/metadata/uid", "value": current.UID},
		{"op": "test", "path": "/metadata/resourceVersion", "value": current.ResourceVersion},
		{"op": "replace", "path": "/spec", "value": wanted.Spec},
		{"op": "add", "path": "/metadata/annotations", "value": annotations},
	})
	if err != nil {
		return nil, err
	}
	changed, err := api.Patch(ctx, wanted.Name, types.JSONPatchType, patch,
		metav1.PatchOptions{FieldManager: kube.FieldManager, FieldValidation: strictness(wanted)})
	switch {
	case apierrors.IsNotFound(err), apierrors.IsInvalid(err):
		return nil, changedMeanwhile(wanted.Name)
	case err != nil:
		return nil, kube.Fault(err, call("patch", v1alpha1.Instances(), wanted.Name))
	}
	return made, typed(changed, made)
}

// strictness is how the API server takes a field that its definition of the kind does not have:
// an older one would leave out the ServiceAccount, and the bundle would be installed as another.
func strictness(wanted *v1alpha1.Instance) string {
	if wanted.Spec.ServiceAccount != nil {
		return metav1.FieldValidationStrict
	}
	return ""
}

// same compares what JSON makes of two values, in which the order of keys says nothing.
func same(a, b any) bool {
	canonical := func(v any) (c any) {
		text, err := json.Marshal(v)
		if err == nil {
			err = json.Unmarshal(text, &c)
		}
		if err != nil {
			return err
		}
		return c
	}
	return reflect.DeepEqual(canonical(a), canonical(b))
}
