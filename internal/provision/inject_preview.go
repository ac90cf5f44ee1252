package provision

import (
	"context"
	"encoding/json"
	"fmt"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/injection"
	"github.com/berthdev/berth/internal/release"
)

// previewInjection is what an injection would create, and the workload as it
// would be patched.
func (r *run) previewInjection(ctx context.Context, server bool) ([]release.Change, error) {
	applier := r.applier(r.id)
	shared, err := release.Planner{Applier: applier, Server: server}.Share(ctx, sharedObjects(r.workspaceSpec()))
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
	if w := r.found.workload; w.object != nil {
		change, err := injection.Eject(w.object, r.id)
		if err != nil {
			return nil, err
		}
		if patched, err = r.previewPatch(ctx, change.Patch, server); err != nil {
			return nil, err
		}
	}
	objects, err := r.objectsInjected(ctx, r.id)
	if err != nil {
		return nil, err
	}
	removed, err := release.Planner{Applier: r.applier(r.id), Server: server}.Remove(ctx, objects)
	return append(patched, removed...), err
}

// previewPatch is the workload with a patch applied: by the API server, which
// keeps nothing of it, or here.
func (r *run) previewPatch(ctx context.Context, patch []byte, server bool) ([]release.Change, error) {
	if patch == nil {
		return nil, nil
	}
	w := r.found.workload
	if server {
		api, call := r.api(w.ref, "patch")
		made, err := api.Patch(ctx, w.ref.Name, types.JSONPatchType, patch, metav1.PatchOptions{FieldManager: fieldManager, DryRun: []string{metav1.DryRunAll}})
		if err != nil {
			return nil, kube.Fault(err, call)
		}
		return []release.Change{{Action: release.ActionUpdate, Object: made}}, nil
	}
	object, err := patched(w.object, patch)
	if err != nil {
		return nil, fmt.Errorf("patch of %s: %w", w.ref, err)
	}
	return []release.Change{{Action: release.ActionUpdate, Object: object}}, nil
}

func patched(object map[string]any, patch []byte) (*unstructured.Unstructured, error) {
	operations, err := jsonpatch.DecodePatch(patch)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	if text, err = operations.Apply(text); err != nil {
		return nil, err
	}
	out := &unstructured.Unstructured{}
	err = out.UnmarshalJSON(text)
	return out, err
}
