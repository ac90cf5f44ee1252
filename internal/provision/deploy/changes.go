package deploy

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/apply"
)

// Changes are what a run has done.
type Changes struct {
	Objects apply.Changes
	// Begun is true once something else may have been written, of which the answer
	// may be lost: Helm's record, or the patch of a workload.
	Begun bool
	// Replaced is true if the workload had the workspace before.
	Replaced bool
}

// Any says whether anything may have been created.
func (c Changes) Any() bool { return c.Begun || len(c.Objects.With(apply.Created)) > 0 }

// Removable are those of the wanted objects that this run may remove: what it
// created and, in the workspace's first run, what it may have created although the
// answer was lost, which has to be asked whose it is. A claim may hold data: it has to
// be known as created.
func (c Changes) Removable(wanted []*unstructured.Unstructured, namespace string, first bool) (mine,
	unsure []*unstructured.Unstructured,
) {
	for _, object := range wanted {
		change, known := c.Objects.Of(object, namespace)
		switch {
		case change.Action == apply.Created:
			mine = append(mine, change.Object) // this very one, by its UID
		case first && !known && object.GetKind() != kindClaim:
			unsure = append(unsure, object)
		}
	}
	return mine, unsure
}

// Keeps says whether an object stays when the workspace is removed: a claim that
// this run is not known to have created. The object is one of the cluster.
func (c Changes) Keeps(object *unstructured.Unstructured) bool {
	change, _ := c.Objects.Of(object, "")
	return object.GetKind() == kindClaim && change.Action != apply.Created
}

const kindClaim = "PersistentVolumeClaim"
