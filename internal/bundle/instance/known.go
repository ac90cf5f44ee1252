package instance

import (
	"cmp"
	"context"

	"golang.org/x/sync/errgroup"
	helm "helm.sh/helm/v3/pkg/release"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/fault"
)

// Known is what the cluster has of an instance before a request.
type Known struct {
	Instance *v1alpha1.Instance // nil if there is none
	Bundles  []v1alpha1.Bundle
	Release  *helm.Release // the newest record; nil if there is none
	// Undefined is true if the cluster does not even have the kinds.
	Undefined bool
}

// Know reads what the cluster has of an instance. One that is recorded in another system
// namespace is an error.
func (r Reconciler) Know(ctx context.Context, name string) (k Known, err error) {
	var current *helm.Release
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		k, err = r.fresh(groupCtx, name)
		return err
	})
	group.Go(func() (err error) {
		current, err = r.records().Latest(groupCtx, name)
		return err
	})
	if err = group.Wait(); fault.CodeOf(err) == fault.NotFound {
		return Known{Undefined: true}, nil
	}
	if err == nil {
		err = r.recordedHere(name, k.Bundles)
	}
	k.Release = current
	return k, err
}

// fresh reads an instance and its bundles again: what was read before the lock may have
// been changed, or deleted, by the run that had it. The release is read by the pass. The bundles
// come first: for another one, the instance is changed and then the bundle created, which
// would be cleaned up as one that nobody wants if the instance were the older of the two.
func (r Reconciler) fresh(ctx context.Context, name string) (k Known, err error) {
	if k.Bundles, err = r.objects().Bundles(ctx, name); err == nil {
		k.Instance, err = r.objects().Instance(ctx, name)
	}
	return k, err
}

// unchanged makes sure that an instance still says what a request was made from: nil is
// one that does not exist.
func unchanged(name string, planned, now *v1alpha1.Instance) error {
	switch {
	case planned == nil && now == nil:
		return nil
	case planned != nil && now != nil && planned.UID == now.UID && planned.Generation == now.Generation:
		return usable(now)
	}
	return changedMeanwhile(name)
}

func changedMeanwhile(name string) error {
	return fault.New(fault.Conflict, "instance %s was changed at the same time by another client", name).
		WithHint("`berth bundle status %s` shows it; try again if it is still wanted", name)
}

// Values are those that the instance was installed with last; empty if there are none.
func (k Known) Values() (string, error) {
	if k.Instance == nil {
		return "", nil
	}
	c, err := config(k.Instance)
	return c.Values, err
}

// ServiceAccount is the one that the instance was to be installed as last; nil for none.
func (k Known) ServiceAccount() *v1alpha1.ServiceAccount {
	if k.Instance == nil {
		return nil
	}
	return k.Instance.Spec.ServiceAccount
}

// Keep is where a request has its objects that name no namespace: where those of the
// instance are, once something is installed. Another one that somebody has asked for, and
// not only has in a context, is refused: all of it would be deleted and created again.
func (k Known) Keep(system, namespace string, asked bool) (string, error) {
	if k.Instance == nil || k.Instance.Status.InstalledBundleName == "" || !IsOurs(k.Instance.Spec.ProvisionerClassName) {
		return namespace, nil
	}
	c, err := config(k.Instance)
	if err != nil {
		return "", err
	}
	if there := cmp.Or(c.Namespace, system); asked && namespace != there {
		return "", fault.New(fault.Conflict, "bundle %s is installed in namespace %s, and does not move to %s",
			k.Instance.Name, there, namespace).
			WithHint("leave out --namespace to upgrade it where it is, or uninstall it first: berth bundle uninstall %s",
				k.Instance.Name)
	}
	return c.Namespace, nil
}
