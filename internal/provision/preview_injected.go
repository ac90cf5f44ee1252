package provision

import (
	"context"
	"slices"

	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/provision/injection"
	"github.com/berthdev/berth/internal/provision/workload"
)

// previewInjection is what an injection would create, and the workload as it
// would be patched.
func (r *run) previewInjection(ctx context.Context, server bool) (apply.Changes, error) {
	shared, err := dry(r.sharer(), server).Apply(ctx, r.spec().Shared())
	if err != nil {
		return nil, err
	}
	own, err := dry(r.injector(), server).Apply(ctx, apply.Objects(r.parts.Objects))
	if err != nil {
		return nil, err
	}
	plan, err := r.injectionPlan()
	if err != nil {
		return nil, err
	}
	patched, err := r.previewPatch(ctx, plan.Patch, server)
	return slices.Concat(changed(shared), changed(own), patched), err
}

// previewEjection is what an ejection would delete, and the workload as it would
// be patched.
func (r *run) previewEjection(ctx context.Context, server bool) (apply.Changes, error) {
	var patched apply.Changes
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
	removed, err := dry(r.injector(), server).Remove(ctx, objects)
	return append(patched, removed...), err
}

// previewPatch is the workload with a patch applied; nothing if there is none.
func (r *run) previewPatch(ctx context.Context, patch []byte, server bool) (apply.Changes, error) {
	if patch == nil {
		return nil, nil
	}
	object, err := r.found.Workload.Preview(ctx, patch, server)
	if err != nil {
		return nil, err
	}
	return apply.Changes{{Action: apply.Updated, Object: object}}, nil
}
