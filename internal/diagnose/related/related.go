// Package related finds and reads what says why a pod waits besides the pod, its claims and its events: the Workload
// of a queue, the PodGroup of a batch scheduler, the NodeClaim of an autoscaler, claims of devices, classes of secrets.
// Few clusters have them and few callers may read them, so that each is read once, where a cause calls for it. What
// cannot be read is named; a cluster without the kind is passed over.
package related

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/pattern"
	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/evidence"
)

// kind is what can be read; the newest version comes first.
type kind struct {
	name, group, resource string
	versions              []string
	everywhere            bool // it is in no namespace
}

func workloads() kind {
	return kind{
		name: "workload", group: "kueue.x-k8s.io", resource: "workloads", versions: []string{"v1beta2", "v1beta1"},
	}
}

func volcanoGroups() kind {
	return kind{
		name: "podgroup", group: "scheduling.volcano.sh", resource: "podgroups", versions: []string{"v1beta1"},
	}
}

func pluginGroups() kind {
	return kind{
		name: "podgroup", group: "scheduling.x-k8s.io", resource: "podgroups", versions: []string{"v1alpha1"},
	}
}

func nodeClaims() kind {
	return kind{
		name: "nodeclaim", group: "karpenter.sh", resource: "nodeclaims", versions: []string{"v1"}, everywhere: true,
	}
}

func deviceClaims() kind {
	return kind{
		name: "resourceclaim", group: "resource.k8s.io", resource: "resourceclaims",
		versions: []string{"v1", "v1beta2", "v1beta1"},
	}
}

func secretClasses() kind {
	return kind{
		name: "secretproviderclass", group: "secrets-store.csi.x-k8s.io", resource: "secretproviderclasses",
		versions: []string{"v1"},
	}
}

// Reference is an object to read: by its name, or without one the first that is owned by one of the owners.
type Reference struct {
	kind            kind
	namespace, name string
	owners          []types.UID
}

// most is how many are read.
const most = 5

const (
	nodeClaim pattern.Expr = `\bnodeclaims?/([a-z0-9][a-z0-9.-]*[a-z0-9])`
	ofKueue   string       = "kueue.x-k8s.io/"
	secrets   string       = "secrets-store.csi.k8s.io"
)

// Wanted are the objects that may say more about a cause. Events are those about the pod.
func Wanted(pod *corev1.Pod, events []*corev1.Event, c *v1.Cause) []Reference {
	if pod == nil || c == nil {
		return nil
	}
	var refs []Reference
	named := func(k kind, names ...string) {
		for _, name := range names {
			if name != "" {
				refs = append(refs, Reference{kind: k, namespace: pod.Namespace, name: name})
			}
		}
	}
	switch c.Code {
	case cause.SchedulingGated:
		if isOfKueue(pod) {
			refs = append(refs, Reference{kind: workloads(), namespace: pod.Namespace, owners: ownersOf(pod)})
		}
	case cause.Unschedulable, cause.SchedulerSilent:
		named(volcanoGroups(),
			firstOf(pod.Annotations, "scheduling.k8s.io/group-name", "scheduling.volcano.sh/group-name"))
		named(pluginGroups(), firstOf(pod.Labels, "scheduling.x-k8s.io/pod-group"))
		named(nodeClaims(), nominated(events))
		named(deviceClaims(), claimsOf(pod)...)
	case cause.ResourceNotReady:
		named(deviceClaims(), claimsOf(pod)...)
	case cause.VolumeNotMounted:
		named(secretClasses(), secretClassesOf(pod)...)
	}
	return refs[:min(most, len(refs))]
}

func isOfKueue(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.SchedulingGates, func(g corev1.PodSchedulingGate) bool {
		return strings.HasPrefix(g.Name, ofKueue)
	})
}

// ownersOf are what a Workload of the pod is owned by: the pod, or what has made it.
func ownersOf(pod *corev1.Pod) []types.UID {
	owners := []types.UID{pod.UID}
	for _, o := range pod.OwnerReferences {
		owners = append(owners, o.UID)
	}
	return owners
}

func firstOf(all map[string]string, keys ...string) string {
	for _, key := range keys {
		if all[key] != "" {
			return all[key]
		}
	}
	return ""
}

// nominated is the NodeClaim that the autoscaler has named for the pod last; empty if it has named none.
func nominated(events []*corev1.Event) (name string) {
	for _, e := range events {
		if m := nodeClaim.FindStringSubmatch(evidence.Text(e)); m != nil {
			name = m[1]
		}
	}
	return name
}

// claimsOf are the device claims of a pod by their names: its own, and those that were made for it from templates.
func claimsOf(pod *corev1.Pod) (names []string) {
	for _, c := range pod.Spec.ResourceClaims {
		if c.ResourceClaimName != nil {
			names = append(names, *c.ResourceClaimName)
		}
	}
	for _, made := range pod.Status.ResourceClaimStatuses {
		if made.ResourceClaimName != nil {
			names = append(names, *made.ResourceClaimName)
		}
	}
	return names
}

func secretClassesOf(pod *corev1.Pod) (names []string) {
	for _, v := range pod.Spec.Volumes {
		if v.CSI != nil && v.CSI.Driver == secrets {
			names = append(names, v.CSI.VolumeAttributes["secretProviderClass"])
		}
	}
	return names
}
