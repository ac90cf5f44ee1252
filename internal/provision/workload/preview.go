package workload

import (
	"context"
	"encoding/json"
	"fmt"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berthdev/berth/internal/kube"
)

// Preview is the workload with a patch applied: by the API server, which keeps
// nothing of it, or here. Who owns which of its fields is left out, as kubectl does.
func (w *Workload) Preview(ctx context.Context, patch []byte, server bool) (*unstructured.Unstructured, error) {
	if server {
		api, call := w.api("patch")
		opts := metav1.PatchOptions{FieldManager: kube.FieldManager, DryRun: []string{metav1.DryRunAll}}
		made, err := api.Patch(ctx, w.Ref.Name, types.JSONPatchType, patch, opts)
		if err != nil {
			return nil, kube.Fault(err, call)
		}
		made.SetManagedFields(nil)
		return made, nil
	}
	object, err := patched(w.Object, patch)
	if err != nil {
		return nil, fmt.Errorf("patch of %s: %w", w.Ref, err)
	}
	object.SetManagedFields(nil)
	return object, nil
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
