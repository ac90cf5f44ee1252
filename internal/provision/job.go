package provision

import (
	"context"

	"github.com/berthdev/berth/internal/job"
	"github.com/berthdev/berth/internal/kube"
)

// beginJob begins the record of this run's job. A pod that is on its way
// belongs to the job that made it: its record goes on.
func (r *run) beginJob(ctx context.Context, p plan) {
	start := job.Start{ID: r.jobID, WorkspaceName: r.id, Username: r.user.User, Namespace: r.namespace}
	if p == resume && r.found.pod.Labels[kube.LabelJobID] != "" {
		start.ID, start.Resumed = r.found.pod.Labels[kube.LabelJobID], true
	}
	r.Jobs.Begin(ctx, start)
}
