package doctor

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/english"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/volume"
)

// installVolumes is how to get the driver of scratch storages.
const installVolumes = "install it: berth serve manifests volumes | kubectl apply --server-side -f -"

// Drivers is what the cluster has of the driver of scratch storages.
type Drivers struct {
	Installed bool
	// Nodes are those of the cluster, with the drivers that they have; Unread is why they are not known.
	Nodes  []storagev1.CSINode
	Unread string
}

// Scratch judges whether storages of type scratch can be had; wanted are those of the default blueprint.
func Scratch(d Drivers, wanted []string) Finding {
	if !d.Installed {
		missing := "the driver of scratch storages, " + volume.DriverName + ", is not installed"
		if len(wanted) > 0 {
			return Failed(missing+", and the default blueprint has some: "+strings.Join(wanted, ", "), installVolumes)
		}
		return OK(missing + ": blueprints of which a storage has type scratch are refused")
	}
	there := "the driver of scratch storages, " + volume.DriverName + ", is installed"
	if d.Unread != "" {
		return OK(there + "; on which nodes cannot be said: " + d.Unread)
	}
	var without []string
	for _, node := range d.Nodes {
		if !slices.ContainsFunc(node.Spec.Drivers,
			func(one storagev1.CSINodeDriver) bool { return one.Name == volume.DriverName }) {
			without = append(without, node.Name)
		}
	}
	there += fmt.Sprintf(" and runs on %d of %d nodes", len(d.Nodes)-len(without), len(d.Nodes))
	switch {
	case len(without) == len(d.Nodes):
		return Warning(there+": pods with scratch storages do not start",
			"see its pods: kubectl get pods --all-namespaces --selector "+
				"app.kubernetes.io/name=berth,app.kubernetes.io/component=volumes")
	case len(without) > 0:
		return OK(there + "; a pod with a scratch storage does not start on " + firstFew(without))
	}
	return OK(there)
}

// firstFew names some of many.
func firstFew(names []string) string {
	const few = 5
	if len(names) <= few {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %s", strings.Join(names[:few], ", "), english.Plural(len(names)-few, "other"))
}

// scratch asks whether the driver is there, and on which nodes.
func (l live) scratch(ctx context.Context, configured *Configured) (Finding, error) {
	var wanted []string
	if configured != nil {
		b, _ := configured.Default(ctx) // another check says what is wrong with it
		for _, name := range slices.Sorted(maps.Keys(b.Scratch())) {
			if b.Storages[name].Driver == "" || b.Storages[name].Driver == volume.DriverName {
				wanted = append(wanted, name)
			}
		}
	}
	storage := l.client.StorageV1()
	_, err := storage.CSIDrivers().Get(ctx, volume.DriverName, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return Finding{}, kube.Fault(err,
			kube.Call{Verb: "get", Resource: "csidrivers.storage.k8s.io", Name: volume.DriverName})
	}
	found := Drivers{Installed: err == nil}
	list, err := storage.CSINodes().List(ctx, metav1.ListOptions{})
	switch {
	case apierrors.IsForbidden(err):
		found.Unread = "you may not list csinodes.storage.k8s.io"
	case err != nil:
		return Finding{}, kube.Fault(err, kube.Call{Verb: "list", Resource: "csinodes.storage.k8s.io"})
	default:
		found.Nodes = list.Items
	}
	return Scratch(found, wanted), nil
}
