package fleet

import (
	"cmp"
	"slices"
	"strings"

	v1 "github.com/berthdev/berth/api/v1"
)

// Order is what a list is sorted by.
type Order string

// The orders. The default is by namespace, then ID; it also decides between
// those that are equal in another.
const (
	ByDefault   Order = ""
	ByName      Order = "name"
	ByOwner     Order = "owner"
	ByBlueprint Order = "blueprint"
	ByStage     Order = "stage"    // in the order of the flow
	ByAge       Order = "age"      // the youngest first
	ByRestarts  Order = "restarts" // the most first
)

// Orders are all that can be asked for.
func Orders() []Order { return []Order{ByName, ByOwner, ByBlueprint, ByStage, ByAge, ByRestarts} }

// Stages are all stages, in the order of the flow.
func Stages() []v1.Stage {
	return []v1.Stage{
		v1.StageScheduling, v1.StagePulling, v1.StageInitializing, v1.StageStarting, v1.StageRunning,
		v1.StageTerminating, v1.StageStopped, v1.StageFailed, v1.StageUnknown,
	}
}

// Sort sorts workspaces in place.
func Sort(items []v1.Workspace, by Order) {
	slices.SortStableFunc(items, func(a, b v1.Workspace) int {
		return cmp.Or(by.compare(a, b), strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.ID, b.ID))
	})
}

func (o Order) compare(a, b v1.Workspace) int {
	switch o {
	case ByName:
		return strings.Compare(a.ID, b.ID)
	case ByOwner:
		return strings.Compare(a.Owner, b.Owner)
	case ByBlueprint:
		return strings.Compare(a.Blueprint, b.Blueprint)
	case ByStage:
		return slices.Index(Stages(), a.Stage) - slices.Index(Stages(), b.Stage)
	case ByAge:
		return b.CreatedAt.Compare(a.CreatedAt)
	case ByRestarts:
		return b.Restarts() - a.Restarts()
	}
	return 0
}
