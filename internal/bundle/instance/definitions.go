package instance

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// DefinitionsCommand is what an administrator runs where the caller may not define kinds.
const DefinitionsCommand = "berth bundle definitions | kubectl apply -f -"

// define makes sure that the cluster has the kinds Bundle and BundleInstance, and the
// system namespace. Definitions that are there are left alone: they may be newer, or
// another program's.
func (r Reconciler) define(ctx context.Context) error {
	objects, err := Definitions()
	if err != nil {
		return err
	}
	err = r.share(ctx, append(objects, kube.Named("Namespace", r.System))...)
	if fault.CodeOf(err) == fault.PermissionDenied {
		return fault.New(fault.PermissionDenied,
			"the cluster does not have the kinds Bundle and BundleInstance or the namespace %s, and you may not create them: %w", r.System, err).
			WithHint("ask an administrator to run `%s`, and `kubectl create namespace %s`", DefinitionsCommand, r.System)
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

// Definitions are the CustomResourceDefinitions of bundles and instances.
func Definitions() (objects []*unstructured.Unstructured, err error) {
	documents, err := v1alpha1.Definitions()
	if err != nil {
		return nil, err
	}
	for _, document := range documents {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(document, &object.Object); err != nil {
			return nil, err
		}
		objects = append(objects, object)
	}
	return objects, nil
}
