package doctor

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Fits judges whether the namespace would take a workspace: what its quotas and
// its limit ranges would refuse. A quota that holds for some pods only is left
// to the API server.
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
				never = append(never, fmt.Sprintf("quota %s requires %s of each container, and %s sets none: a limit range could give a default",
					q.Name, name, strings.Join(unsaid, " and ")))
			case sum.Cmp(hard) > 0:
				never = append(never, fmt.Sprintf("quota %s allows %s %s, it asks for %s", q.Name, hard.String(), name,
					sum.String()))
			case sum.Cmp(left) > 0:
				now = append(now, fmt.Sprintf("quota %s has %s %s left of %s, it asks for %s", q.Name, left.String(), name,
					hard.String(), sum.String()))
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

// outOfRange is what limit ranges refuse.
func (a Asks) outOfRange(ranges []corev1.LimitRange) (problems []string) {
	say := func(what string, list corev1.ResourceList, bound corev1.ResourceList, order int, words string) {
		for _, name := range sorted(bound) {
			limit := bound[name]
			if q, given := list[name]; given && q.Cmp(limit) == order {
				problems = append(problems, fmt.Sprintf("%s may have %s %s %s, it asks for %s", what, words, limit.String(), name,
					q.String()))
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
