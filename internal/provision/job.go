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
	if old := r.found.job(); p == resume && old != "" {
		start.ID, start.Resumed = old, true
	}
	r.Jobs.Begin(ctx, start)
}

// job is the job that made what was found.
func (f found) job() string {
	switch {
	case f.pod != nil:
		return f.pod.Labels[kube.LabelJobID]
	case f.workload != nil:
		return f.workload.job()
	}
	return ""
}
