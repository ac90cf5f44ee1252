package deploy

import (
	"fmt"
	"strings"

	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/lock"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/provision/manifest"
)

// Applier applies the objects of an owner under a lock, which a dry run does not
// have: it overwrites what others have changed in them.
func Applier(r inventory.Reader, owner apply.Owner, held *lock.Lock, dry apply.DryRun) apply.Applier {
	a := apply.Applier{
		Client: r.Client.Dynamic, Discovery: r.Client.Discovery(), Namespace: r.Client.Namespace,
		Owner: owner, Force: true, DryRun: dry,
	}
	if held != nil {
		a.Fence = held
	}
	return a
}

// WarnOfClaims says which claims were kept, and warns of those that existed and are not
// what the blueprint asks for now: the spec of a claim cannot be changed later.
func WarnOfClaims(d Deployment, there apply.Changes, steps *Steps) {
	noteKept(d, there, steps)
	for _, claim := range append(apply.Unwrap(d.Shared), d.Objects...) {
		have, known := there.Of(claim, d.Spec.Namespace)
		if claim.GetKind() != kindClaim || !known {
			continue
		}
		storage := manifest.StorageOf(d.Chart.Values, claim.GetName())
		if have.InPlaceOf != nil {
			steps.Note("storage %s is made again as its blueprint says: it never had a volume", storage)
			continue
		}
		changes := manifest.ClaimChanges(claim, have.Object)
		if len(changes) == 0 {
			continue
		}
		text := fmt.Sprintf("storage %s stays as it is: %s", storage, strings.Join(changes, "; "))
		if neverBound(have.Object) {
			text += "; it never had a volume: with the right to delete it, run `" +
				fault.Command("kubectl", "delete", "pvc", claim.GetName(), "--namespace", d.Spec.Namespace) + "`"
		}
		steps.Warn("ClaimSpecChanged", kube.Object("persistentvolumeclaim", claim.GetName()), text)
	}
}
