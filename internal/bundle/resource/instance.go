package resource

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"reflect"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// RequestRetry has a server work once more on what is wanted already and has failed, whose cause
// may be gone, or was being uninstalled: the instance says when that was requested.
func RequestRetry(wanted, current *v1alpha1.Instance, now time.Time) error {
	if current == nil {
		return nil
	}
	before, err := ConfigOf(current)
	if err != nil {
		return nil //nolint:nilerr // it is replaced by what is wanted
	}
	c, err := ConfigOf(wanted)
	if err != nil {
		return err
	}
	c.Requested = before.Requested
	if wanted.Spec.Config, err = json.Marshal(c); err != nil || !Same(current.Spec, wanted.Spec) {
		return err
	}
	if state, _ := judge(current); state != v1.BundleFailed && state != v1.BundleUnhealthy &&
		state != v1.BundleDeleting {
		return nil
	}
	c.Requested = now.UTC().Format(time.RFC3339Nano)
	wanted.Spec.Config, err = json.Marshal(c)
	return err
}

// ConfigOf reads what an instance sets.
func ConfigOf(in *v1alpha1.Instance) (c v1alpha1.Config, err error) {
	if len(in.Spec.Config) == 0 {
		return c, nil
	}
	if err := strictly(in.Spec.Config, &c); err != nil {
		return c, fault.New(fault.InvalidArgument, "the config of instance %s cannot be read: %w", in.Name, err).
			WithHint("of berth's classes it has values (a text of YAML), namespace, format and watchNamespaces")
	}
	return c, nil
}

// CheckUnchanged makes sure that an instance still says what a request was made from: nil is
// one that does not exist.
func CheckUnchanged(name string, planned, now *v1alpha1.Instance) error {
	switch {
	case planned == nil && now == nil:
		return nil
	case planned != nil && now != nil && planned.UID == now.UID && planned.Generation == now.Generation:
		return CheckUsable(now)
	}
	return changedMeanwhile(name)
}

func changedMeanwhile(name string) error {
	return fault.New(fault.Conflict, "instance %s was changed at the same time by another client", name).
		WithHint("`berth bundle status %s` shows it; try again if it is still wanted", name)
}

// strictly reads JSON that must have no other fields.
func strictly(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

// IsUninstalling is true for an instance whose uninstallation has begun. No pass puts back
// what that has removed, also if it was interrupted.
func IsUninstalling(in *v1alpha1.Instance) bool {
	return in.Annotations[v1alpha1.AnnotationUninstalling] != ""
}

// Annotate sets an annotation of this very instance.
func (o Objects) Annotate(ctx context.Context, in *v1alpha1.Instance, name, value string) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid":         in.UID,
		"annotations": map[string]string{name: value},
	}})
	if err != nil {
		return err
	}
	made, err := o.Client.Resource(v1alpha1.Instances()).
		Patch(ctx, in.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: kube.FieldManager})
	if err != nil {
		return kube.Fault(err, Call("patch", v1alpha1.Instances(), in.Name))
	}
	in.Annotations, in.ResourceVersion = made.GetAnnotations(), made.GetResourceVersion()
	return nil
}

// installedAnnotations are those of an instance that is installed, or is again.
func installedAnnotations(annotations map[string]string) map[string]string {
	all := map[string]string{}
	maps.Copy(all, annotations)
	delete(all, v1alpha1.AnnotationUninstalling)
	return all
}

// CheckRecorded makes sure that an instance, by its bundles, is recorded in the system
// namespace: in any other one, neither its release nor its lock would be found.
func CheckRecorded(name, system string, bundles []v1alpha1.Bundle) error {
	for i := range bundles {
		if b := &bundles[i]; IsElsewhere(b, system) {
			where := b.Annotations[v1alpha1.AnnotationSystemNamespace]
			return fault.New(fault.Conflict, "bundle %s is recorded in the system namespace %s, not in %s", name, where,
				system).
				WithHint("add --system-namespace %s", where)
		}
	}
	return nil
}

// IsElsewhere is true for a bundle whose instance is recorded in another system namespace, where
// what was uploaded for it is as well.
func IsElsewhere(b *v1alpha1.Bundle, system string) bool {
	where := b.Annotations[v1alpha1.AnnotationSystemNamespace]
	return where != "" && where != system
}

// CheckUsable refuses an instance that is somebody else's work, or on its way out.
func CheckUsable(in *v1alpha1.Instance) error {
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

// SetInstance creates the instance, or changes the one that was read if it says something
// else.
func (o Objects) SetInstance(ctx context.Context, wanted, current *v1alpha1.Instance) (*v1alpha1.Instance, error) {
	wanted.TypeMeta = TypeMeta(v1alpha1.KindInstance)
	made := &v1alpha1.Instance{}
	if current == nil {
		object, err := Encode(wanted)
		if err != nil {
			return nil, err
		}
		created, err := create(ctx, o.Client, v1alpha1.Instances(), object, strictness(wanted))
		if err != nil {
			return nil, kube.Fault(err, Call("create", v1alpha1.Instances(), wanted.Name))
		}
		return made, Decode(created, made)
	}
	annotations := installedAnnotations(current.Annotations)
	if Same(current.Spec, wanted.Spec) && maps.Equal(annotations, current.Annotations) {
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
	changed, err := o.Client.Resource(v1alpha1.Instances()).Patch(ctx, wanted.Name, types.JSONPatchType, patch,
		metav1.PatchOptions{FieldManager: kube.FieldManager, FieldValidation: strictness(wanted)})
	switch {
	case apierrors.IsNotFound(err), apierrors.IsInvalid(err):
		return nil, changedMeanwhile(wanted.Name)
	case err != nil:
		return nil, kube.Fault(err, Call("patch", v1alpha1.Instances(), wanted.Name))
	}
	return made, Decode(changed, made)
}

// strictness is how the API server takes a field that its definition of the kind does not have:
// an older one would leave out the ServiceAccount, and the bundle would be installed as another.
func strictness(wanted *v1alpha1.Instance) string {
	if wanted.Spec.ServiceAccount != nil {
		return metav1.FieldValidationStrict
	}
	return ""
}

// Same compares what JSON makes of two values, in which the order of keys says nothing.
func Same(a, b any) bool {
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
