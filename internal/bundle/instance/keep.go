package instance

import (
	"context"
	"fmt"
	"slices"

	helm "helm.sh/helm/v3/pkg/release"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/apply/hooks"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/release"
)

// left is an object that an uninstallation leaves, and why.
type left struct {
	object *unstructured.Unstructured
	reason string
}

func (l left) kept() v1.KeptObject {
	return v1.KeptObject{
		Object: kube.Object(l.object.GetKind(), l.object.GetName()), Namespace: l.object.GetNamespace(),
		Reason: l.reason,
	}
}

// places are what the records of a release say about where its objects are.
type places struct {
	// named are the objects and hooks of all records, installed the objects of what was applied
	// as a whole, and current these and those of the newest record: an upgrade may have failed
	// in the middle.
	named, installed, current []*unstructured.Unstructured
}

// placesOf reads records, the newest first.
func placesOf(records []*helm.Release) (h places, err error) {
	deployed := slices.IndexFunc(records, func(r *helm.Release) bool { return r.Info.Status == helm.StatusDeployed })
	for i, record := range records {
		objects, err := release.Objects(record.Manifest)
		if err != nil {
			return h, err
		}
		recorded, err := recordedHooks(record)
		if err != nil {
			return h, err
		}
		h.named = append(h.named, objects...)
		for _, hook := range recorded {
			h.named = append(h.named, hook.Object)
		}
		if i == deployed {
			h.installed = objects
		}
		if i == 0 || i == deployed {
			h.current = append(h.current, objects...)
		}
	}
	return h, nil
}

// find reads what the instance has installed. The records only say where to look: each
// object says itself whose it is.
func (u removal) find(ctx context.Context, applier apply.Applier, o Removing) (remove []*unstructured.Unstructured,
	keep []left, err error,
) {
	records, unreadable, err := u.records().History(ctx, u.name)
	if err != nil {
		return nil, nil, err
	}
	for _, record := range unreadable {
		u.steps.Note("what revision %d alone has installed is not looked for: %s", record.Version,
			fault.From(record.Err).Message)
	}
	h, err := placesOf(records)
	if err != nil {
		return nil, nil, err
	}
	if err := applier.Watch(ctx, h.installed); err != nil {
		return nil, nil, err
	}
	if err := watchAttempted(ctx, applier, h.named); err != nil {
		return nil, nil, err
	}
	if err := u.watchUnnamed(ctx, applier, h); err != nil {
		return nil, nil, err
	}
	remove, keep = partition(u.view.Objects(), h, applier, o)
	return remove, keep, u.confirm(ctx, applier, remove, o)
}

// watchUnnamed looks for definitions and claims that earlier bundles of the instance have
// left, which its release may not name any more.
func (u removal) watchUnnamed(ctx context.Context, applier apply.Applier, h places) error {
	definition := kube.Named("CustomResourceDefinition", "")
	definition.SetAPIVersion("apiextensions.k8s.io/v1")
	var claims []*unstructured.Unstructured
	for _, object := range h.named {
		if object.GetNamespace() != "" {
			claim := kube.Named("PersistentVolumeClaim", "")
			claim.SetNamespace(object.GetNamespace())
			claims = append(claims, claim)
		}
	}
	for kind, objects := range map[string][]*unstructured.Unstructured{
		"customresourcedefinitions": {definition}, "persistentvolumeclaims": claims,
	} {
		err := applier.Watch(ctx, objects)
		if fault.CodeOf(err) == fault.PermissionDenied {
			u.steps.Note("what earlier bundles have left of %[1]s is not looked for: you may not watch %[1]s", kind)
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// partition says what of the objects is removed, and what is left and why. Nothing is left of a
// kind whose definition is removed.
func partition(objects []*unstructured.Unstructured, h places, applier apply.Applier,
	o Removing,
) (remove []*unstructured.Unstructured, keep []left) {
	for _, object := range objects {
		switch reason := keepReason(object, h, applier, o); {
		case object.GetDeletionTimestamp() != nil:
		case reason != "":
			keep = append(keep, left{object, reason})
		default:
			remove = append(remove, object)
		}
	}
	goes := func(l left) bool { return apply.Defines(remove, l.object.GroupVersionKind()) }
	return remove, slices.DeleteFunc(keep, goes)
}

// madeByHook is why what a hook has made is left, as helm leaves it.
const madeByHook = "a hook has made it"

// keepReason is why an object is left; empty for one that is removed.
func keepReason(object *unstructured.Unstructured, h places, applier apply.Applier, o Removing) string {
	one := []*unstructured.Unstructured{object}
	switch remove, _ := apply.Removable(one, o.Definitions); {
	case !applier.Owner.Owns(object):
		return "it belongs to somebody else"
	case hooks.IsHook(object):
		return madeByHook
	case apply.IsKept(object):
		return "it is marked to be kept"
	case len(remove) == 0:
		return "every object of its kind would go with it; --delete-crds removes it"
	case apply.IsClaim(object) && o.KeepStorage:
		return "it may hold data, which --keep-storage keeps"
	case apply.IsClaim(object) && len(apply.Without(one, h.current, applier.Namespace)) > 0:
		return "an earlier bundle has made it, and it may hold data"
	}
	return ""
}

// recordedHooks are the hooks that a release was recorded with; none if it is nil.
func recordedHooks(record *helm.Release) (all []hooks.Hook, err error) {
	if record == nil {
		return nil, nil
	}
	for _, h := range record.Hooks {
		objects, err := release.Objects(h.Manifest)
		if err != nil {
			return nil, err
		}
		for _, object := range objects {
			all = append(all, hookOf(h, object))
		}
	}
	return all, nil
}

// leftHooks is what is kept, with what the hooks have left: another one of them, of
// those that are recorded or of earlier ones, may have removed it or made it.
func leftHooks(ctx context.Context, applier apply.Applier, recorded []hooks.Hook, keep []left) (all []left, err error) {
	var made, earlier []*unstructured.Unstructured
	for _, hook := range recorded {
		made = append(made, hook.Object)
	}
	for _, l := range keep {
		if hooks.IsHook(l.object) && applier.Owner.Owns(l.object) {
			earlier = append(earlier, l.object)
		} else {
			all = append(all, l)
		}
	}
	made = append(made, apply.Without(earlier, made, applier.Namespace)...)
	own, _, err := applier.Find(ctx, made, func(o *unstructured.Unstructured) bool {
		return applier.Owner.Owns(o) && hooks.IsHook(o) && o.GetDeletionTimestamp() == nil
	})
	for _, object := range own {
		all = append(all, left{object, madeByHook})
	}
	return all, err
}

// orphan unties what is left from the instance: the cluster would delete it with the
// instance.
func (u removal) orphan(ctx context.Context, applier apply.Applier, keep []left) error {
	if u.known.Instance == nil {
		return nil
	}
	objects := make([]*unstructured.Unstructured, len(keep))
	for i := range keep {
		objects[i] = keep[i].object
	}
	return applier.Orphan(ctx, objects, u.known.Instance.UID)
}

// emptied are the objects without the namespaces that hold what is kept, or what others
// have put there: the cluster would delete it with the namespace.
func (u removal) emptied(ctx context.Context, objects []*unstructured.Unstructured,
	keep []left,
) (rest []*unstructured.Unstructured, kept []left, err error) {
	for _, object := range objects {
		if object.GetKind() == "Namespace" {
			reason := keptIn(object.GetName(), keep)
			if reason == "" {
				holds, err := u.holds(ctx, object.GetName())
				if err != nil {
					return nil, nil, err
				}
				if holds != "" {
					reason = "it holds " + holds + ", which is not the bundle's"
				}
			}
			if reason != "" {
				kept = append(kept, left{object, reason})
				continue
			}
		}
		rest = append(rest, object)
	}
	return rest, kept, nil
}

// keptIn says what is kept in a namespace; empty if nothing is.
func keptIn(namespace string, keep []left) string {
	for _, l := range keep {
		if l.object.GetNamespace() == namespace {
			return "it holds " + l.kept().Object + ", which is kept"
		}
	}
	return ""
}

// holds names something in a namespace that the instance has not put there; empty if
// there is nothing of the kinds that people keep work in.
func (u removal) holds(ctx context.Context, namespace string) (string, error) {
	for _, kind := range []schema.GroupVersionKind{
		{Version: "v1", Kind: "PersistentVolumeClaim"},
		{Version: "v1", Kind: "Secret"},
		{Version: "v1", Kind: "ConfigMap"},
		{Version: "v1", Kind: "Service"},
		{Group: "apps", Version: "v1", Kind: "Deployment"},
		{Group: "apps", Version: "v1", Kind: "StatefulSet"},
		{Version: "v1", Kind: "Pod"},
	} {
		resource, _ := kube.ResourceOf(kind)
		list, err := u.Installs.Dynamic.Resource(resource.GroupVersionResource).Namespace(namespace).
			List(ctx, metav1.ListOptions{
				LabelSelector: v1alpha1.LabelOwnerName + "!=" + u.name, Limit: 500,
			})
		if err != nil {
			return "", kube.Fault(err, kube.Call{
				Verb: "list", Resource: resource.GroupResource().String(),
				Namespace: namespace,
			})
		}
		for i := range list.Items {
			if o := &list.Items[i]; o.GetDeletionTimestamp() == nil && len(o.GetOwnerReferences()) == 0 &&
				o.GetName() != "kube-root-ca.crt" {
				return fmt.Sprintf("%s/%s", kind.Kind, o.GetName()), nil
			}
		}
	}
	return "", nil
}
