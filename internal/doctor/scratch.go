package doctor

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/english"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/volume"
)

// Drivers is what the cluster has of a driver of scratch storages.
type Drivers struct {
	Name      string
	Installed bool
	// Nodes are those of the cluster, with the drivers that they have; Unread is why they are not known.
	Nodes  []storagev1.CSINode
	Unread string
}

// install is how to get the driver.
func (d Drivers) install() string {
	named := ""
	if d.Name != volume.DriverName {
		named = " --driver-name " + d.Name
	}
	return "install it: berth serve manifests volumes" + named + " | kubectl apply --server-side -f -"
}

// Scratch judges whether storages of type scratch can be had of a driver; wanted are those of the default blueprint.
func Scratch(d Drivers, wanted []string) Finding {
	if !d.Installed {
		missing := "the driver of scratch storages, " + d.Name + ", is not installed"
		if len(wanted) > 0 {
			return Failed(missing+", and the default blueprint has some: "+strings.Join(wanted, ", "), d.install())
		}
		return OK(missing + ": blueprints of which a storage has type scratch are refused")
	}
	there := "the driver of scratch storages, " + d.Name + ", is installed"
	if d.Unread != "" {
		return OK(there + "; on which nodes cannot be said: " + d.Unread)
	}
	var without []string
	for _, node := range d.Nodes {
		if !slices.ContainsFunc(node.Spec.Drivers,
			func(one storagev1.CSINodeDriver) bool { return one.Name == d.Name }) {
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

// scratch asks whether the driver is there, and on which nodes: berth's own, or those that the default blueprint names.
// Of several, the first that is not all right is reported.
func (l live) scratch(ctx context.Context, configured *Configured) (Finding, error) {
	wanted := byDriver(nil)
	if configured != nil {
		b, _ := configured.Default(ctx) // another check says what is wrong with it
		wanted = byDriver(b.Scratch())
	}
	var finding Finding
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		found, err := l.drivers(ctx, name)
		if err != nil {
			return Finding{}, err
		}
		if finding = Scratch(found, wanted[name]); finding.Status != v1.CheckupOK {
			return finding, nil
		}
	}
	return finding, nil
}

// byDriver has the storages of each driver that is asked about. Storages are given with the drivers that they name.
func byDriver(storages map[string]string) map[string][]string {
	wanted := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(storages)) {
		driver := cmp.Or(storages[name], volume.DriverName)
		wanted[driver] = append(wanted[driver], name)
	}
	if len(wanted) == 0 {
		wanted[volume.DriverName] = nil
	}
	return wanted
}

// drivers asks what the cluster has of a driver.
func (l live) drivers(ctx context.Context, name string) (Drivers, error) {
	storage := l.client.StorageV1()
	_, err := storage.CSIDrivers().Get(ctx, name, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return Drivers{}, kube.Fault(err, kube.Call{Verb: "get", Resource: "csidrivers.storage.k8s.io", Name: name})
	}
	found := Drivers{Name: name, Installed: err == nil}
	list, err := storage.CSINodes().List(ctx, metav1.ListOptions{})
	switch {
	case apierrors.IsForbidden(err):
		found.Unread = "you may not list csinodes.storage.k8s.io"
	case err != nil:
		return Drivers{}, kube.Fault(err, kube.Call{Verb: "list", Resource: "csinodes.storage.k8s.io"})
	default:
		found.Nodes = list.Items
	}
	return found, nil
}
