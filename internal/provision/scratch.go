package provision

import (
	"context"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/volume"
)

// driver is what the cluster says of the CSI driver of scratch storages.
type driver struct {
	asked, missing bool
	err            error
}

// driverFor asks for the driver if a blueprint has scratch storages as it is composed:
// early, so that the answer comes with the other reads.
func (p *Provisioner) driverFor(ctx context.Context, c Composed) driver {
	if len(c.Scratch()) == 0 {
		return driver{}
	}
	return p.askForDriver(ctx)
}

func (p *Provisioner) askForDriver(ctx context.Context) driver {
	_, err := p.Client.StorageV1().CSIDrivers().Get(ctx, volume.DriverName, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return driver{asked: true, missing: true}
	case apierrors.IsForbidden(err):
		return driver{asked: true} // without the driver the pod does not start, and says why
	}
	return driver{asked: true, err: kube.Fault(err,
		kube.Call{Verb: "get", Resource: "csidrivers.storage.k8s.io", Name: volume.DriverName})}
}

// checkDriver returns an error if a blueprint has scratch storages and the cluster has
// no driver for them. Whether it has some may be known only now, with expressions.
func (p *Provisioner) checkDriver(ctx context.Context, b blueprint.Blueprint, found driver) error {
	names := b.Scratch()
	if len(names) == 0 {
		return nil
	}
	if !found.asked {
		found = p.askForDriver(ctx)
	}
	if !found.missing {
		return found.err
	}
	what := "storage " + names[0] + " is"
	if len(names) > 1 {
		what = "storages " + strings.Join(names, ", ") + " are"
	}
	return fault.New(fault.InvalidArgument, "%s of type %s, and the cluster has no CSI driver %s", what,
		blueprint.StorageScratch, volume.DriverName).
		WithHint("ask your cluster administrator to install it (`berth serve manifests volumes`), or change the type of the storage in blueprint %s", b.Name)
}
