package doctor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/lock"
	"github.com/berthdev/berth/internal/rbac"
	"github.com/berthdev/berth/internal/userstring"
)

const enforce = "pod-security.kubernetes.io/enforce"

// Namespace judges the namespace: that pods can be made in it. As the chart has them they run as root, if the blueprint
// does not say otherwise.
func Namespace(ns *corev1.Namespace) Finding {
	level := ns.Labels[enforce]
	switch {
	case ns.DeletionTimestamp != nil:
		return Failed("namespace "+ns.Name+" is being deleted", "choose another one with --namespace")
	case level == "restricted":
		return Warning("namespace "+ns.Name+
			" has pod security level restricted: it refuses the agent, the podman sidecar and each blueprint whose "+
			"securityContext lets it start as root",
			"give the blueprints the securityContext that docs/blueprints.md has for it, or choose another namespace")
	case level == "baseline":
		return OK("namespace " + ns.Name + ", pod security level baseline: it refuses a podman sidecar " +
			"that is privileged, or not confined by AppArmor, as it is by default")
	case level != "":
		return OK("namespace " + ns.Name + ", pod security level " + level)
	}
	return OK("namespace " + ns.Name)
}

// nearly is how much of a quota may be used before it is a warning, in percent.
const nearly = 90

// Quotas judges what is left.
func Quotas(quotas []corev1.ResourceQuota) Finding {
	if len(quotas) == 0 {
		return OK("no quotas")
	}
	worst, problems := OK(fmt.Sprintf("%d with room left", len(quotas))), []string{}
	for _, q := range quotas {
		for _, name := range sorted(q.Status.Hard) {
			hard, used := q.Status.Hard[name], q.Status.Used[name]
			text := fmt.Sprintf("%s: %s of %s %s in use", q.Name, used.String(), hard.String(), name)
			switch {
			case used.Cmp(hard) >= 0:
				worst = Failed("a quota is used up", makeRoom(quotas))
				problems = append(problems, text)
			case percent(used, hard) >= nearly:
				if len(worst.Hint) == 0 {
					worst = Warning("a quota is nearly used up", makeRoom(quotas))
				}
				problems = append(problems, text)
			}
		}
	}
	if len(problems) > 0 {
		worst.Problems = problems
	}
	return worst
}

// makeRoom says what to do about a quota of a namespace.
func makeRoom(quotas []corev1.ResourceQuota) string {
	return "delete what is not needed (`" + fault.Command("berth", "status", "--namespace", quotas[0].Namespace) +
		"`), or ask for more"
}

func percent(used, hard resource.Quantity) float64 {
	return 100 * used.AsApproximateFloat64() / hard.AsApproximateFloat64()
}

func sorted(list corev1.ResourceList) []corev1.ResourceName {
	names := make([]corev1.ResourceName, 0, len(list))
	for name := range list {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// LimitRanges tells what a container may have: a blueprint that asks for more is refused.
func LimitRanges(ranges []corev1.LimitRange) Finding {
	var limits []string
	for _, r := range ranges {
		for _, item := range r.Spec.Limits {
			for _, name := range sorted(item.Max) {
				most := item.Max[name]
				limits = append(limits, fmt.Sprintf("%s %s at most %s", item.Type, name, most.String()))
			}
		}
	}
	if len(limits) == 0 {
		return OK("no upper limits")
	}
	return OK(strings.Join(limits, ", "))
}

// Permissions judges whether the caller may do what a command needs. What only some workspaces need, or only some
// options, is a warning.
func Permissions(c rbac.Command, review rbac.Review) Finding {
	if review.Incomplete {
		return Skipped("the API server cannot list your permissions; each is tried when it is used")
	}
	needed, rest := review.Missing(c.Needs()), review.Missing(c.All())
	if len(rest) == 0 {
		return OK("berth " + c.Name)
	}
	f := Failed("berth "+c.Name+" would fail in namespace "+review.Namespace, "")
	if len(needed) == 0 {
		f = Warning("berth "+c.Name+" works in namespace "+review.Namespace+", but not with all features", "")
	}
	for _, a := range rest {
		f.Problems = append(f.Problems, "missing: "+a.String())
	}
	words := []string{
		"ask for the Role", c.ObjectName(), "of docs/rbac.md (`berth help rbac`); afterwards:",
		rbac.CanI(rest[0], review.Namespace),
	}
	f.Hint = strings.Join(words, " ")
	return f
}

// Locks judges the locks of workspaces: one that is not renewed belongs to a run that was killed.
func Locks(leases []coordinationv1.Lease, now time.Time) Finding {
	var stale []string
	held := 0
	for _, l := range leases {
		if l.Labels[kube.LabelCanonicalID] == "" {
			continue
		}
		held++
		if lock.IsOverdue(&l, now) {
			stale = append(stale, "lease/"+l.Name)
		}
	}
	if len(stale) == 0 {
		if held > 0 {
			return OK("all held locks are in use")
		}
		return OK("no locks are held")
	}
	f := Warning("some were left by runs that were killed",
		"they do no harm: the next provision or delete of the workspace takes them over")
	f.Problems = stale
	return f
}

// Releases judges Helm's records: one that is neither done nor being worked at was left by a run that was killed.
func Releases(records []corev1.Secret, leases []coordinationv1.Lease, now time.Time) Finding {
	busy := map[string]bool{}
	for _, l := range leases {
		if !lock.IsOverdue(&l, now) {
			busy[l.Labels[kube.LabelCanonicalID]] = true
		}
	}
	var halves []string
	remove := ""
	for _, s := range records {
		name, status := s.Labels["name"], s.Labels["status"]
		if status == "deployed" || status == "superseded" || !userstring.LooksLikeID(name) || busy[name] {
			continue
		}
		remove = cmp.Or(remove, kube.Command("delete", name, s.Namespace))
		halves = append(halves, name+" ("+status+")")
	}
	if len(halves) == 0 {
		return OK("all are complete")
	}
	f := Warning("some workspaces are only partly installed",
		"provision them again, which completes them, or remove them: "+remove)
	f.Problems = halves
	return f
}
