package provision

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"

	v1 "github.com/berthdev/berth/api/v1"
)

// inspectWorkload is the document of a workspace in a workload: how the newest
// revision stands, and whose the workspace is from a pod that has it.
func (p *Provisioner) inspectWorkload(ctx context.Context, t *Target, events bool) (*v1.Workspace, error) {
	workload, reading := t.found.workload, t.found.reading
	if !workload.injected() {
		reading = v1.Snapshot{
			Stage: v1.StageUnknown, Status: v1.StatusUnknown,
			Message: "not in " + workload.ref.String() + " any more; delete it, or provision it again",
		}
	}
	w := v1.Workspace{TypeMeta: v1.Kind(v1.KindWorkspace), ID: t.ID, Namespace: t.Namespace}
	pods, err := p.podsInjected(ctx, t.ID)
	if err != nil {
		return nil, err
	}
	if len(pods) > 0 {
		w = describe(&pods[0].ObjectMeta, reading)
	}
	w.Snapshot, w.Workload = reading, workload.ref.String()
	if !events {
		return &w, nil
	}
	var about []runtime.Object
	for _, pod := range pods {
		around, err := p.around(ctx, pod)
		if err != nil {
			return nil, err
		}
		about = append(append(about, pod), around...)
	}
	w.Events = told(about)
	return &w, nil
}
