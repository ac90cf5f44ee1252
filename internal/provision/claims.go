package provision

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/manifest"
)

// warnOfClaims tells of claims that were there and are not as the blueprint now
// wants them: what a claim asks for is settled when it is made.
func (r *run) warnOfClaims(wanted []*unstructured.Unstructured, there apply.Changes) {
	for _, claim := range wanted {
		have, known := there.Of(claim)
		if claim.GetKind() != "PersistentVolumeClaim" || !known {
			continue
		}
		changes := manifest.ClaimChanges(claim, have.Object)
		if len(changes) == 0 {
			continue
		}
		r.steps.Warning(v1.Warning{
			Reason: "ClaimSpecChanged", Count: 1, Object: kube.Object("persistentvolumeclaim", claim.GetName()), At: r.Now(),
			Message: fmt.Sprintf("storage %s stays as it is: %s", manifest.StorageOf(r.rendered.Values, claim.GetName()), strings.Join(changes, "; ")),
		})
	}
}
