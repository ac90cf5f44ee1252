package workload

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/injection"
)

// How often a patch is tried on a template that somebody else has changed
// meanwhile, and after which pause.
const (
	patchTries = 20
	patchPause = 50 * time.Millisecond
)

// Patch changes the workload as it was seen, or as it is by then: the change is
// computed anew from each version. It leaves the newest version in w.
func (w *Workload) Patch(ctx context.Context, change func(object map[string]any) (injection.Change, error)) error {
	api, call := w.api("patch")
	for try := 1; ; try++ {
		c, err := change(w.Object)
		if err != nil || c.Patch == nil {
			return err
		}
		made, err := api.Patch(ctx, w.Ref.Name, types.JSONPatchType, c.Patch, metav1.PatchOptions{FieldManager: kube.FieldManager})
		if err == nil {
			w.Object = made.Object
			w.Record, err = injection.RecordOf(made.GetAnnotations())
			return err
		}
		again, readErr := w.changedMeanwhile(ctx, err)
		if readErr != nil {
			return readErr
		}
		if !again || try == patchTries {
			return kube.Fault(err, call)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(patchPause):
		}
	}
}

// changedMeanwhile says whether a patch was refused because the workload is not
// any more what it was made for, and reads it again if so. A test that fails is
// an invalid patch to the API server, as is one that makes no sense: what tells
// them apart is the version.
func (w *Workload) changedMeanwhile(ctx context.Context, err error) (bool, error) {
	if !apierrors.IsConflict(err) && !apierrors.IsInvalid(err) {
		return false, nil
	}
	now, readErr := Read(ctx, w.client, w.ID, w.Ref)
	if readErr != nil {
		return false, readErr
	}
	if now.Object == nil {
		return false, fault.New(fault.NotFound, "%s is gone: somebody has deleted it", w.Ref)
	}
	changed := version(now.Object) != version(w.Object)
	w.Object, w.Record = now.Object, now.Record
	return changed, nil
}

func version(object map[string]any) string {
	return (&unstructured.Unstructured{Object: object}).GetResourceVersion()
}
