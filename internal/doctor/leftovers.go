package doctor

import (
	"cmp"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/lock"
	"github.com/berthdev/berth/internal/userstring"
)

// Locks judges the locks of workspaces: one that is not renewed belongs to a
// run that was killed.
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

// Releases judges Helm's records: one that is neither done nor being worked at
// was left by a run that was killed.
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
