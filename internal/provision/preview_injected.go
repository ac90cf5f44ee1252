package provision

import (
	"context"

	"github.com/berthdev/berth/internal/provision/injection"
	"github.com/berthdev/berth/internal/provision/workload"
	"github.com/berthdev/berth/internal/release"
)

// previewInjection is what an injection would create, and the workload as it
// would be patched.
func (r *run) previewInjection(ctx context.Context, server bool) ([]release.Change, error) {
	applier := r.applier(r.id)
	shared, err := release.Planner{Applier: applier, Server: server}.Share(ctx, r.spec().Shared())
	if err != nil {
		return nil, err
	}
	applier.Loose = true
	own, err := release.Planner{Applier: applier, Server: server}.Apply(ctx, r.parts.Objects)
	if err != nil {
		return nil, err
	}
	plan, err := r.injectionPlan()
	if err != nil {
		return nil, err
	}
	patched, err := r.previewPatch(ctx, plan.Patch, server)
	return append(append(shared, own...), patched...), err
}

// previewEjection is what an ejection would delete, and the workload as it would
// be patched.
func (r *run) previewEjection(ctx context.Context, server bool) ([]release.Change, error) {
	var patched []release.Change
	if w := r.found.Workload; w.Object != nil {
		change, err := injection.Eject(w.Object, r.id)
		if err != nil {
			return nil, err
		}
		if patched, err = r.previewPatch(ctx, change.Patch, server); err != nil {
			return nil, err
		}
	}
	objects, err := workload.Objects(ctx, r.Client, r.id)
	if err != nil {
		return nil, err
	}
	removed, err := release.Planner{Applier: r.applier(r.id), Server: server}.Remove(ctx, objects)
	return append(patched, removed...), err
}

// previewPatch is the workload with a patch applied; nothing if there is none.
func (r *run) previewPatch(ctx context.Context, patch []byte, server bool) ([]release.Change, error) {
	if patch == nil {
		return nil, nil
	}
	object, err := r.found.Workload.Preview(ctx, patch, server)
	if err != nil {
		return nil, err
	}
	return []release.Change{{Action: release.ActionUpdate, Object: object}}, nil
}
