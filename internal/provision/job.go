package provision

import (
	"context"

	"github.com/berthdev/berth/internal/job"
)

// beginJob begins the record of this run's job. A pod that is on its way
// belongs to the job that made it: its record goes on.
func (r *run) beginJob(ctx context.Context, p plan) {
	start := job.Start{ID: r.jobID, WorkspaceName: r.id, Username: r.user.User, Namespace: r.namespace}
	if old := r.found.Job(); p == resume && old != "" {
		start.ID, start.Resumed = old, true
	}
	r.Jobs.Begin(ctx, start)
}
