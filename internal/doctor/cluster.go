package doctor

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
)

const defaultClass = "storageclass.kubernetes.io/is-default-class"

// Storage judges where volumes come from.
func Storage(classes []storagev1.StorageClass) Finding {
	var defaults, early []string
	for _, c := range classes {
		if c.Annotations[defaultClass] != "true" {
			continue
		}
		mode := storagev1.VolumeBindingImmediate
		if c.VolumeBindingMode != nil {
			mode = *c.VolumeBindingMode
		}
		defaults = append(defaults, fmt.Sprintf("%s (%s)", c.Name, mode))
		if mode == storagev1.VolumeBindingImmediate && slices.Contains(bound(), c.Provisioner) {
			early = append(early, c.Name)
		}
	}
	switch {
	case len(classes) == 0:
		return Warning("no storage class found: a workspace with storage stays pending",
			"ask your cluster administrator for one, or use blueprints without storage")
	case len(defaults) == 0:
		return Warning("no default storage class: storage that names no class stays pending",
			"name one in the blueprint, or mark one: kubectl annotate storageclass "+classes[0].Name+" "+defaultClass+"=true")
	case len(defaults) > 1:
		return Warning("several storage classes are the default: "+strings.Join(defaults, ", "),
			"the newest is used; name one in the blueprint to be sure")
	}
	if len(early) > 0 {
		return Warning("default storage class "+
			defaults[0]+" creates volumes before the pod is scheduled, and its volumes are tied to a node or zone",
			"use a storage class with volumeBindingMode WaitForFirstConsumer; the mode of an existing one cannot be changed")
	}
	return OK("default storage class " + defaults[0])
}

// bound are well-known provisioners whose volumes can be used on some nodes only.
func bound() []string {
	return []string{
		"ebs.csi.aws.com", "kubernetes.io/aws-ebs", "pd.csi.storage.gke.io", "kubernetes.io/gce-pd", "disk.csi.azure.com",
		"kubernetes.io/azure-disk",
		"cinder.csi.openstack.org", "csi.hetzner.cloud", "dobs.csi.digitalocean.com", "rancher.io/local-path", "topolvm.io",
		"openebs.io/local",
		"kubernetes.io/no-provisioner",
	}
}

// Nodes judges whether there is room to run anything.
func Nodes(nodes []corev1.Node) Finding {
	var architectures, troubled []string
	ready := 0
	for _, n := range nodes {
		if !isReady(n) || n.Spec.Unschedulable {
			troubled = append(troubled, n.Name)
			continue
		}
		ready++
		if a := n.Status.NodeInfo.Architecture; !slices.Contains(architectures, a) {
			architectures = append(architectures, a)
		}
	}
	slices.Sort(architectures)
	said := fmt.Sprintf("%d of %d nodes accept pods", ready, len(nodes))
	if ready > 0 {
		said += " (" + strings.Join(architectures, ", ") + ")"
	}
	switch {
	case ready == 0:
		return Failed(said, "no pod can run: kubectl describe nodes says why")
	case len(troubled) > 0:
		return Warning(said+"; not "+strings.Join(troubled, ", "), "kubectl describe node "+troubled[0])
	case len(architectures) > 1:
		return Warning(said, "an image of one architecture fails on the others: use images of several, or a node selector")
	}
	return OK(said)
}

func isReady(n corev1.Node) bool {
	return slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}
