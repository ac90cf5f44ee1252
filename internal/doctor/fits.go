package doctor

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/blueprint"
)

// Fits judges whether the namespace would take a workspace: what its quotas and its limit ranges would refuse. A quota
// that holds for some pods only is left to the API server.
func Fits(a Asks, quotas []corev1.ResourceQuota, ranges []corev1.LimitRange) Finding {
	a = a.withDefaults(ranges)
	never := a.outOfRange(ranges)
	var now []string
	for _, q := range quotas {
		if len(q.Spec.Scopes) > 0 || q.Spec.ScopeSelector != nil {
			continue
		}
		for _, name := range sorted(q.Status.Hard) {
			hard, used := q.Status.Hard[name], q.Status.Used[name]
			sum, unsaid, known := a.total(name)
			left := hard.DeepCopy()
			left.Sub(used)
			switch {
			case !known:
			case len(unsaid) > 0:
				never = append(never, fmt.Sprintf("quota %s requires %s of each container, and %s sets none: a limit "+
					"range could give a default", q.Name, name, strings.Join(unsaid, " and ")))
			case sum.Cmp(hard) > 0:
				never = append(never, fmt.Sprintf("quota %s allows %s %s, it asks for %s", q.Name, hard.String(), name,
					sum.String()))
			case sum.Cmp(left) > 0:
				now = append(now, fmt.Sprintf("quota %s has %s %s left of %s, it asks for %s", q.Name, left.String(),
					name, hard.String(), sum.String()))
			}
		}
	}
	what := "a workspace of blueprint " + a.Blueprint
	f := OK(what + " fits into quotas and limits")
	switch {
	case len(never) > 0:
		f = Failed(what+" would be refused in this namespace",
			"change resources in the blueprint, or ask the namespace's administrator for other quotas or limits")
	case len(now) > 0:
		f = Warning("there is no room for another "+strings.TrimPrefix(what, "a ")+" now", makeRoom(quotas))
	}
	f.Problems = slices.Concat(never, now)
	return f
}

// Asks is what a workspace asks the cluster for.
type Asks struct {
	Blueprint  string
	Containers []corev1.Container
	Claims     []corev1.PersistentVolumeClaim
}

// AsksOf reads what a blueprint asks for, as the chart has it. A quantity that is computed for each workspace is not
// known here, and left out.
func AsksOf(b blueprint.Blueprint) Asks {
	a := Asks{Blueprint: b.Name, Containers: []corev1.Container{{
		Name:      v1.MainContainer,
		Resources: resourcesOf(b.Resources),
	}}}
	if b.Podman.Enabled {
		a.Containers = append(a.Containers,
			corev1.Container{Name: "k8shell-podman", Resources: resourcesOf(b.Podman.Resources)})
	}
	a.claim("", b.Storages)
	if b.Podman.Enabled {
		a.claim(blueprint.PodmanStorage, b.Podman.Storages)
	}
	return a
}

// claim adds the claims of storages.
func (a *Asks) claim(prefix string, storages map[string]blueprint.Storage) {
	for _, name := range slices.Sorted(maps.Keys(storages)) {
		s := storages[name]
		if !s.On() || s.Type != blueprint.StorageLocal || s.ExistingClaim != "" {
			continue // whether shared ones exist is not known here
		}
		claim := corev1.PersistentVolumeClaim{}
		claim.Name = prefix + name
		if runtime.DefaultUnstructuredConverter.FromUnstructured(s.ClaimSpec, &claim.Spec) == nil {
			a.Claims = append(a.Claims, claim)
		}
	}
}

// outOfRange is what limit ranges refuse.
func (a Asks) outOfRange(ranges []corev1.LimitRange) (problems []string) {
	say := func(what string, list corev1.ResourceList, bound corev1.ResourceList, order int, words string) {
		for _, name := range sorted(bound) {
			limit := bound[name]
			if q, given := list[name]; given && q.Cmp(limit) == order {
				problems = append(problems, fmt.Sprintf("%s may have %s %s %s, it asks for %s", what, words,
					limit.String(), name, q.String()))
			}
		}
	}
	const above, below = 1, -1
	for _, item := range items(ranges, corev1.LimitTypeContainer) {
		for _, c := range a.Containers {
			say(c.Name, c.Resources.Limits, item.Max, above, "at most")
			say(c.Name, c.Resources.Requests, item.Max, above, "at most")
			say(c.Name, c.Resources.Requests, item.Min, below, "at least")
		}
	}
	for _, item := range items(ranges, corev1.LimitTypePod) {
		say("the pod", a.sum(corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory), item.Max, above, "at most")
		say("the pod", a.sum(corev1.ResourceCPU, corev1.ResourceMemory), item.Min, below, "at least")
	}
	for _, item := range items(ranges, corev1.LimitTypePersistentVolumeClaim) {
		for _, c := range a.Claims {
			say("storage "+c.Name, c.Spec.Resources.Requests, item.Max, above, "at most")
			say("storage "+c.Name, c.Spec.Resources.Requests, item.Min, below, "at least")
		}
	}
	return compact(problems)
}

// sum is what all containers together say of CPU and memory.
func (a Asks) sum(cpu, memory corev1.ResourceName) corev1.ResourceList {
	allCPU, _, _ := a.total(cpu)
	allMemory, _, _ := a.total(memory)
	return corev1.ResourceList{corev1.ResourceCPU: allCPU, corev1.ResourceMemory: allMemory}
}

// compact leaves out what has been said: a request and its limit may be the same.
func compact(texts []string) (distinct []string) {
	said := map[string]bool{}
	for _, t := range texts {
		if !said[t] {
			distinct = append(distinct, t)
		}
		said[t] = true
	}
	return distinct
}

// resourcesOf are those of a container: memory is its limit as well.
func resourcesOf(r blueprint.Resources) corev1.ResourceRequirements {
	out := corev1.ResourceRequirements{Requests: corev1.ResourceList{}, Limits: corev1.ResourceList{}}
	if q, err := blueprint.ParseQuantity(r.CPU); err == nil {
		out.Requests[corev1.ResourceCPU] = q
	}
	if q, err := blueprint.ParseQuantity(r.Memory); err == nil {
		out.Requests[corev1.ResourceMemory], out.Limits[corev1.ResourceMemory] = q, q
	}
	return out
}

// withDefaults fills in what the namespace gives a container that does not say, as the API server does: a limit is the
// request as well.
func (a Asks) withDefaults(ranges []corev1.LimitRange) Asks {
	out := a
	out.Containers = nil
	for _, c := range a.Containers {
		c = *c.DeepCopy()
		for _, item := range items(ranges, corev1.LimitTypeContainer) {
			fill(c.Resources.Limits, item.Default)
			fill(c.Resources.Requests, item.DefaultRequest)
		}
		fill(c.Resources.Requests, c.Resources.Limits)
		out.Containers = append(out.Containers, c)
	}
	return out
}

func fill(list, from corev1.ResourceList) {
	for name, q := range from {
		if _, given := list[name]; !given {
			list[name] = q
		}
	}
}

func items(ranges []corev1.LimitRange, kind corev1.LimitType) (all []corev1.LimitRangeItem) {
	for _, r := range ranges {
		for _, item := range r.Spec.Limits {
			if item.Type == kind {
				all = append(all, item)
			}
		}
	}
	return all
}

// total is what the workspace counts in a quota under a name; unsaid are the containers that do not say it, which a
// quota on it refuses. Known is false for a name that is not looked at.
func (a Asks) total(name corev1.ResourceName) (sum resource.Quantity, unsaid []string, known bool) {
	add := func(kind func(corev1.Container) corev1.ResourceList, of corev1.ResourceName) {
		for _, c := range a.Containers {
			q, given := kind(c)[of]
			if !given {
				unsaid = append(unsaid, c.Name)
			}
			sum.Add(q)
		}
	}
	requests := func(c corev1.Container) corev1.ResourceList { return c.Resources.Requests }
	limits := func(c corev1.Container) corev1.ResourceList { return c.Resources.Limits }
	switch name {
	case corev1.ResourcePods, "count/pods":
		sum = resource.MustParse("1")
	case corev1.ResourceCPU, corev1.ResourceRequestsCPU:
		add(requests, corev1.ResourceCPU)
	case corev1.ResourceMemory, corev1.ResourceRequestsMemory:
		add(requests, corev1.ResourceMemory)
	case corev1.ResourceLimitsCPU:
		add(limits, corev1.ResourceCPU)
	case corev1.ResourceLimitsMemory:
		add(limits, corev1.ResourceMemory)
	case corev1.ResourcePersistentVolumeClaims, "count/persistentvolumeclaims":
		sum = *resource.NewQuantity(int64(len(a.Claims)), resource.DecimalSI)
	case corev1.ResourceRequestsStorage:
		for _, c := range a.Claims {
			sum.Add(c.Spec.Resources.Requests[corev1.ResourceStorage])
		}
	default:
		return sum, nil, false
	}
	return sum, unsaid, true
}
