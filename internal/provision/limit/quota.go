package limit

import (
	"errors"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/kube"
)

// ExceededQuota is how the API server begins to say that a quota is used up.
const ExceededQuota = "exceeded quota: "

// FitsAfterReplacing says whether a pod that a quota refuses fits once the old one, which counts
// as well, is gone; not known if the refusal is about something else.
func FitsAfterReplacing(err error, old *corev1.Pod) (room, known bool) {
	by, refused := errors.AsType[*kube.RefusedError](err)
	if !refused || old == nil || by.Call.Resource != "pods" {
		return false, false
	}
	_, text, exceeded := strings.Cut(by.Message, ExceededQuota)
	requested, used, limited := quantities(text, "requested: "), quantities(text, "used: "),
		quantities(text, "limited: ")
	if !exceeded || len(requested) == 0 {
		return false, false
	}
	for name, total := range requested {
		limit, ok := limited[name]
		if !ok {
			return false, false
		}
		total.Add(used[name])
		total.Sub(usage(old, name))
		if total.Cmp(limit) > 0 {
			return false, true
		}
	}
	return true, true
}

// quantities reads one of the lists of the message about a quota:
// requested: pods=1,requests.cpu=2, used: ...
func quantities(text, list string) map[string]resource.Quantity {
	_, rest, _ := strings.Cut(text, list)
	rest, _, _ = strings.Cut(rest, ", ")
	all := map[string]resource.Quantity{}
	for item := range strings.SplitSeq(rest, ",") {
		name, value, _ := strings.Cut(item, "=")
		if quantity, err := blueprint.ParseQuantity(value); err == nil {
			all[name] = quantity
		}
	}
	return all
}

// usage is what a pod counts for a resource of a quota.
func usage(pod *corev1.Pod, name string) resource.Quantity {
	if name == "pods" || name == "count/pods" {
		return resource.MustParse("1")
	}
	of := func(r corev1.ResourceRequirements) resource.Quantity {
		if limit, ok := strings.CutPrefix(name, "limits."); ok {
			return r.Limits[corev1.ResourceName(limit)]
		}
		return r.Requests[corev1.ResourceName(strings.TrimPrefix(name, "requests."))]
	}
	var sum, beside, most resource.Quantity
	for _, c := range pod.Spec.Containers {
		sum.Add(of(c.Resources))
	}
	for _, c := range pod.Spec.InitContainers {
		amount := of(c.Resources)
		amount.Add(beside)
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			beside = amount.DeepCopy()
		}
		if amount.Cmp(most) > 0 {
			most = amount
		}
	}
	sum.Add(beside)
	if most.Cmp(sum) > 0 {
		sum = most
	}
	if pod.Spec.Resources != nil { // the pod's own counts in place of those of its containers
		if own := of(*pod.Spec.Resources); !own.IsZero() {
			sum = own
		}
	}
	sum.Add(of(corev1.ResourceRequirements{Requests: pod.Spec.Overhead, Limits: pod.Spec.Overhead}))
	return sum
}
