package provision

import (
	"context"

	"github.com/berthdev/berth/internal/job"
	"github.com/berthdev/berth/internal/lock"
	"github.com/berthdev/berth/internal/provision/inventory"
)

// jobAtWork is the job of whoever holds the lock of a provisioning; empty if it is
// not known. A workspace that is on its way belongs to the job that made it, whose
// record they go on with; one that they make, to the job that their lock names.
func jobAtWork(f inventory.Found, p plan, holder *lock.Observed) string {
	if p == resume || p == refuse {
		return f.Job()
	}
	return holder.Job
}

// beginJob begins the record of this run's job. A pod that is on its way
// belongs to the job that made it: its record goes on.
func (r *run) beginJob(ctx context.Context, p plan) {
	start := job.Start{ID: r.jobID, WorkspaceName: r.id, Username: r.user.User, Namespace: r.namespace}
	if old := r.found.Job(); p == resume && old != "" {
		start.ID, start.Resumed = old, true
	}
	r.Jobs.Begin(ctx, start)
}
