package standalone

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/english"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/provision/manifest"
	"github.com/berthdev/berth/internal/release"
	"github.com/berthdev/berth/internal/userstring"
	"github.com/berthdev/berth/internal/watch"
)

// belongings are what belongs to a workspace, as it is on the cluster. Helm's record
// only says where to look: each object says itself whose it is.
type belongings struct {
	objects []*unstructured.Unstructured
	secrets []*unstructured.Unstructured // of its certificates
	// foreign are named by the record and belong to others.
	foreign []*unstructured.Unstructured
	// kept are the claims that were kept before, and stay.
	kept []*unstructured.Unstructured
	// unreadable says that the record is; empty if it can be read.
	unreadable string
}

// survey looks the workspace up, and reads beside that what was found of it before:
// only what the record does not name until now takes another round.
func (t Target) survey(ctx context.Context, before inventory.Found) (found inventory.Found, owned belongings,
	err error,
) {
	known := t.named(before)
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		found, err = t.LookupStatus(groupCtx, t.ID)
		return err
	})
	group.Go(func() (err error) {
		owned, err = t.find(groupCtx, known)
		return err
	})
	var kept []*unstructured.Unstructured
	group.Go(func() (err error) {
		if kept, err = t.Kept(groupCtx, t.ID); fault.CodeOf(err) == fault.PermissionDenied {
			err = nil // they stay, unnamed
		}
		return err
	})
	if err := group.Wait(); err != nil {
		return found, owned, err
	}
	named := t.named(found)
	if found.Unreadable != nil {
		others, unread, err := t.labelled(ctx)
		if err != nil {
			return found, owned, err
		}
		named, owned.unreadable = append(named, others...), unreadable(found, unread)
	}
	if more := apply.Without(named, known, t.Client.Namespace); len(more) > 0 {
		rest, err := t.find(ctx, more)
		if err != nil {
			return found, owned, err
		}
		owned = owned.with(rest)
	}
	owned = owned.sorted(before, found, kept)
	pod, err := podObject(found.Pod)
	if pod != nil {
		owned.objects = append(owned.objects, pod)
	}
	return found, owned, err
}

// sorted tells what is the workspace's from what is kept. A claim that is kept is
// deleted only by who asks for it, where there is no workspace.
func (b belongings) sorted(before, found inventory.Found, kept []*unstructured.Unstructured) belongings {
	user, _ := userstring.ParseCanonical(found.UserString()) // of nobody, if it is not known
	b.objects = slices.DeleteFunc(b.objects, inventory.IsKept)
	for _, claim := range kept {
		asked := slices.ContainsFunc(before.Kept,
			func(k *unstructured.Unstructured) bool { return k.GetUID() == claim.GetUID() })
		switch {
		case asked && !found.Exists():
			b.objects = append(b.objects, claim)
		case !inventory.IsKeptForAnother(claim, user):
			b.kept = append(b.kept, claim)
		}
	}
	return b
}

// find reads objects, but for the pod, which a lookup has read.
func (t Target) find(ctx context.Context, named []*unstructured.Unstructured) (owned belongings, err error) {
	local, foreign := t.local(named)
	secrets := manifest.Certified(t.ID, local)
	own, others, err := t.applier(nil, apply.DryRunNone).Find(ctx, append(local, secrets...), t.owns)
	for _, object := range own {
		if isCertified(object, t.ID) {
			owned.secrets = append(owned.secrets, object)
		} else {
			owned.objects = append(owned.objects, object)
		}
	}
	owned.foreign = slices.Concat(others, foreign) // those first that are certainly there
	return owned, err
}

// local are those of the objects that a workspace can have: of a kind that berth
// knows, in the workspace's namespace. Its own pod is left out.
func (t Target) local(named []*unstructured.Unstructured) (local, foreign []*unstructured.Unstructured) {
	for _, object := range named {
		resource, known := kube.ResourceOf(object.GroupVersionKind())
		namespace := object.GetNamespace()
		switch {
		case object.GetKind() == watch.KindPod && object.GetName() == t.ID:
		case !known, !resource.Namespaced, namespace != "" && namespace != t.Client.Namespace,
			object.GetName() == "", len(content.IsPathSegmentName(object.GetName())) > 0:
			foreign = append(foreign, object)
		default:
			local = append(local, object)
		}
	}
	return local, foreign
}

// owns says whether an object belongs to the workspace, by the marks of its release; a
// certificate's Secret, by the name of the certificate.
func (t Target) owns(object *unstructured.Unstructured) bool {
	return release.Owner(t.ID, t.Client.Namespace).Owns(object) || isCertified(object, t.ID)
}

// annotationCertificate is cert-manager's, on the Secret of a certificate.
const annotationCertificate = "cert-manager.io/certificate-name"

func isCertified(object *unstructured.Unstructured, id string) bool {
	return object.GetKind() == "Secret" && manifest.IsCertificate(id, object.GetAnnotations()[annotationCertificate])
}

func (b belongings) with(more belongings) belongings {
	b.objects, b.secrets = append(b.objects, more.objects...), append(b.secrets, more.secrets...)
	b.foreign = append(b.foreign, more.foreign...)
	return b
}

// shownForeign is how many foreign objects are named.
const shownForeign = 5

// warn names what is left because it belongs to others.
func (b belongings) warn(steps *deploy.Steps) {
	if b.unreadable != "" {
		steps.Warn("RecordUnreadable", "", b.unreadable)
	}
	if len(b.foreign) == 0 {
		return
	}
	var names []string
	for _, object := range b.foreign[:min(len(b.foreign), shownForeign)] {
		name := kube.Object(object.GetKind(), object.GetName())
		if namespace := object.GetNamespace(); namespace != "" {
			name += " in namespace " + namespace
		}
		names = append(names, fmt.Sprintf("%.*s", maxName, name))
	}
	if more := len(b.foreign) - len(names); more > 0 {
		names = append(names, english.Plural(more, "other"))
	}
	steps.Warn("NotOwned", "", "left, for it does not belong to the workspace although its record names it: "+
		strings.Join(names, ", "))
}

// maxName bounds the names of objects, which a record can have made up.
const maxName = 100

// named are the objects that a workspace says it has: those of Helm's record and,
// where that names no pod or cannot be read, those whose names follow from the ID.
func (t Target) named(found inventory.Found) (named []*unstructured.Unstructured) {
	pod := found.Pod
	if found.Record != nil {
		objects, err := release.Objects(found.Record.Manifest)
		if err == nil && (pod == nil || kube.OfKind(objects, watch.KindPod) != nil) {
			return objects
		}
		named = objects
	}
	switch {
	case pod == nil && found.Record == nil && found.Unreadable == nil:
		return nil // it has been removed meanwhile
	case pod == nil:
		pod = &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: t.ID}}
	}
	return append(named, apply.Without(manifest.OfPod(pod), named, t.Client.Namespace)...)
}

// podObject is the pod as the applier has it; nil for none.
func podObject(pod *corev1.Pod) (*unstructured.Unstructured, error) {
	if pod == nil {
		return nil, nil
	}
	return kube.Untyped(watch.KindPod, pod)
}

// labelled are the objects that carry the ID of a workspace whose record cannot be
// read. Unread are the kinds that the caller may not list.
func (t Target) labelled(ctx context.Context) (objects []*unstructured.Unstructured, unread []string, err error) {
	for _, kind := range []schema.GroupVersionKind{
		corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim"),
		schema.FromAPIVersionAndKind("networking.k8s.io/v1", "NetworkPolicy"),
		schema.FromAPIVersionAndKind(manifest.CertManager, "Certificate"),
	} {
		some, err := t.ofKind(ctx, kind)
		if apierrors.IsForbidden(err) {
			unread = append(unread, kind.Kind)
			continue
		}
		if err != nil {
			resource, _ := kube.ResourceOf(kind)
			return nil, nil, kube.Fault(err,
				kube.Call{Verb: "list", Resource: resource.GroupResource().String(), Namespace: t.Client.Namespace})
		}
		objects = append(objects, some...)
	}
	return objects, unread, nil
}

// ofKind are the objects of a kind that carry the ID and are not in a workload. A
// kind that the cluster does not know has none.
func (t Target) ofKind(ctx context.Context, kind schema.GroupVersionKind) (objects []*unstructured.Unstructured,
	err error,
) {
	resource, _ := kube.ResourceOf(kind)
	selector := kube.LabelCanonicalID + "=" + kube.LabelValue(t.ID) + "," + kube.LabelInjected + "!=true," +
		kube.LabelKept + "!=true"
	list, err := t.Client.Dynamic.Resource(resource.GroupVersionResource).Namespace(t.Client.Namespace).
		List(ctx, metav1.ListOptions{LabelSelector: selector})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, item := range list.Items {
		object := kube.Named(kind.Kind, item.GetName())
		object.SetAPIVersion(kind.GroupVersion().String())
		objects = append(objects, object)
	}
	return objects, nil
}

// unreadable says that the record is, and what that means for a removal.
func unreadable(found inventory.Found, unread []string) string {
	text := found.Unreadable.Error() + "; what says that it belongs to the workspace is deleted, and the record with it"
	if len(unread) > 0 {
		text += "; what you may not list is kept, unless the pod names it: " + strings.Join(unread, ", ")
	}
	return text
}
