package inventory

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/provision/workload"
)

// inspectWorkload is the document of a workspace in a workload: how the newest
// revision stands, and whose the workspace is from a pod that has it.
func (r Reader) inspectWorkload(ctx context.Context, t *Target, events bool) (*v1.Workspace, error) {
	in, reading := t.Found.Workload, t.Found.Reading
	if !in.Injected() {
		reading = v1.Snapshot{
			Stage: v1.StageUnknown, Status: v1.StatusUnknown,
			Message: "not in " + in.Ref.String() + " any more; delete it, or provision it again",
		}
	}
	w := v1.Workspace{ID: t.ID, Namespace: t.Namespace}
	pods, err := workload.Pods(ctx, r.Client, t.ID)
	if err != nil {
		return nil, err
	}
	if len(pods) > 0 {
		w = Describe(&pods[0].ObjectMeta, reading)
	}
	w.Snapshot, w.Workload = reading, in.Ref.String()
	if !events {
		return &w, nil
	}
	var about []runtime.Object
	for _, pod := range pods {
		around, err := r.around(ctx, pod)
		if err != nil {
			return nil, err
		}
		about = append(append(about, pod), around...)
	}
	w.Events = told(about)
	return &w, nil
}
