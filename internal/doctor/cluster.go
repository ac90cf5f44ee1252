package doctor

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/version"
)

// The versions of Kubernetes that berth is made for, of major version 1, and the distance from the newest beyond which
// it is untested.
const (
	oldestMinor = 31
	newestMinor = 36
	untried     = 3
)

// Limits of what is normal.
const (
	slow   = 500 * time.Millisecond
	skewed = 5 * time.Second
)

// Version judges the version of the API server and how long it takes to answer.
func Version(v version.Info, latency time.Duration) Finding {
	minor, err := strconv.Atoi(strings.TrimRight(v.Minor, "+"))
	said := fmt.Sprintf("Kubernetes %s, answers in %s", v.GitVersion, latency.Round(time.Millisecond))
	switch {
	case err != nil || v.Major != "1":
		return Warning(said+"; this version is not known", "berth supports Kubernetes 1.31 and newer")
	case minor < oldestMinor:
		return Failed(said+"; it is too old",
			"berth requires Kubernetes 1.31 or newer: ask your cluster administrator to upgrade")
	case minor > newestMinor+untried:
		return Warning(said+"; much newer than the version that berth was built for",
			"look for a newer version of berth")
	case latency > slow:
		return Warning(said+", which is slow",
			"each command waits for several answers in a row: check the network, VPN or proxy")
	}
	return OK(said)
}

// Clock compares the clocks. The server's time is from a header, in whole seconds, of an answer that took a while.
func Clock(server, before, after time.Time) Finding {
	if server.IsZero() {
		return Skipped("the server does not report its time")
	}
	off := time.Duration(0)
	switch {
	case server.Add(time.Second).Before(before):
		off = before.Sub(server.Add(time.Second))
	case server.After(after):
		off = server.Sub(after)
	}
	if off > skewed {
		return Warning(fmt.Sprintf("this machine's clock and the server's are %s apart", off.Round(time.Second)),
			"set this machine's clock (NTP); ages and times are wrong until then, and a login may be refused")
	}
	return OK("the clocks agree")
}

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
			"name one in the blueprint, or mark one: kubectl annotate storageclass "+
				classes[0].Name+" "+defaultClass+"=true")
	case len(defaults) > 1:
		return Warning("several storage classes are the default: "+strings.Join(defaults, ", "),
			"the newest is used; name one in the blueprint to be sure")
	}
	if len(early) > 0 {
		return Warning("default storage class "+
			defaults[0]+" creates volumes before the pod is scheduled, and its volumes are tied to a node or zone",
			"use a storage class with volumeBindingMode WaitForFirstConsumer; the mode of an existing one "+
				"cannot be changed")
	}
	return OK("default storage class " + defaults[0])
}

// bound are well-known provisioners whose volumes can be used on some nodes only.
func bound() []string {
	return []string{
		"ebs.csi.aws.com", "kubernetes.io/aws-ebs", "pd.csi.storage.gke.io", "kubernetes.io/gce-pd",
		"disk.csi.azure.com",
		"kubernetes.io/azure-disk",
		"cinder.csi.openstack.org", "csi.hetzner.cloud", "dobs.csi.digitalocean.com", "rancher.io/local-path",
		"topolvm.io",
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
		return Warning(said, "an image of one architecture fails on the others: use images of several, "+
			"or a node selector")
	}
	return OK(said)
}

func isReady(n corev1.Node) bool {
	return slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}

// plugins are the network plugins that run as a DaemonSet: a word of the name of it or of its images, and whether the
// plugin enforces network policies. The first that fits counts: Canal is Flannel with Calico's policies.
func plugins() []plugin {
	return []plugin{
		{"canal", "Canal", enforces},
		{"calico", "Calico", enforces},
		{"cilium", "Cilium", enforces},
		{"anetd", "GKE Dataplane V2", enforces},
		{"antrea", "Antrea", enforces},
		{"kube-router", "kube-router", enforces},
		{"kube-ovn", "Kube-OVN", enforces},
		{"ovnkube", "OVN-Kubernetes", enforces},
		{"weave", "Weave Net", enforces},
		{"kube-network-policies", "kube-network-policies", enforces},
		{"azure-npm", "Azure NPM", enforces},
		{"aws-network-policy-agent", "the VPC CNI with its policy agent", mayEnforce},
		{"aws-node", "the VPC CNI", ignores},
		{"kindnet", "kindnet", mayEnforce},
		{"flannel", "Flannel", ignores},
	}
}

type plugin struct {
	word, name string
	policies   policies
}

// policies is what a plugin does with network policies.
type policies int

const (
	ignores    policies = iota
	mayEnforce          // by its version or settings, which are not seen
	enforces
)

// NetworkPolicies judges whether anything enforces network policies. An API server takes them all the same, so this can
// only be guessed.
func NetworkPolicies(sets []appsv1.DaemonSet) Finding {
	var best *plugin
	where := ""
	for _, p := range plugins() {
		for i := range sets {
			if (best == nil || p.policies > best.policies) && runs(&sets[i], p.word) {
				best, where = &p, " (daemonset "+sets[i].Namespace+"/"+sets[i].Name+")"
			}
		}
	}
	const try = "; to verify, try to reach a forbidden address from a workspace of class isolated"
	switch {
	case best == nil:
		return Skipped("no known network plugin runs as a DaemonSet: cannot tell whether network policies are " +
			"enforced" + try)
	case best.policies == mayEnforce:
		return Skipped(best.name + where +
			" enforces network policies if it is recent and configured to, which cannot be checked from here" + try)
	case best.policies == ignores:
		return Warning(best.name+where+" does not enforce network policies: those of blueprints have no effect, and "+
			"an agent lets in whatever reaches its pod",
			"ask your cluster administrator for a plugin that does, or do not rely on networkPolicyClass")
	}
	return OK(best.name + where + " enforces network policies")
}

func runs(set *appsv1.DaemonSet, word string) bool {
	if strings.Contains(set.Name, word) {
		return true
	}
	for _, c := range set.Spec.Template.Spec.Containers {
		if strings.Contains(c.Image, word) {
			return true
		}
	}
	return false
}
