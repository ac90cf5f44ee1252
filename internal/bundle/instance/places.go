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

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// checkPlaces finds out before anything is written whether the cluster has the kinds and the
// namespaces of a bundle's objects. A namespace that the caller may not read is taken to exist.
func (r Reconciler) checkPlaces(ctx context.Context, q Request) error {
	objects, err := r.Applier(q.Name, cmp.Or(q.Package.Namespace, r.namespaceOf(q.Config))).Placed(ctx, q.Package.Objects)
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
	return fault.From(err).WithHint("it is where an object of the bundle is to be: create it with `kubectl create namespace %s`, or add it to the bundle", name)
}

// remains says of a first installation that has failed that its instance stands, though nothing
// of the bundle may; in is nil if it was not written.
func remains(in *v1alpha1.Instance, err error) error {
	if err == nil || in == nil || in.Status.InstalledBundleName != "" {
		return err
	}
	f := *fault.From(err)
	f.Hint = strings.TrimPrefix(f.Hint+"; ", "; ") + "bundle " + in.Name +
		" is listed though it is not installed: install it again, or remove it with `berth bundle uninstall " + in.Name + "`"
	return &f
}
