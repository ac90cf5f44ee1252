package job

import (
	"context"
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/lock"
)

// markAbandoned marks the records of jobs that nobody works on any more: each job has the lock
// of its workspace as long as it runs. It asks only if one of them would be told as running,
// and where it may not, or records of other namespaces are among them, it is the age of a
// record alone that tells. Nothing is written.
func (s *Stores) markAbandoned(ctx context.Context, records []Record) {
	now := s.cluster.Now()
	isRunning := func(r Record) bool { return r.State(now) == v1.JobRunning }
	if s.nats != nil || !slices.ContainsFunc(records, isRunning) {
		return
	}
	leases, err := s.cluster.Client.CoordinationV1().Leases(s.cluster.Namespace).List(ctx, metav1.ListOptions{LabelSelector: kube.LabelCanonicalID})
	if err != nil {
		return
	}
	for i, r := range records {
		if !isRunning(r) || s.isWorkedOn(ctx, r, jobInUse(r.WorkspaceName, leases.Items, lock.Self(), now)) {
			continue
		}
		// Whoever ends a job releases the lock beside the last write.
		if again, err := get(ctx, s.cluster, r.ID); err == nil {
			records[i] = again
			records[i].abandoned = again.UpdatedAt.Equal(r.UpdatedAt)
		}
	}
}

// isWorkedOn says whether it is this job that the lock of its workspace is held for. The lock
// may name a job without a record: then its holder goes on with the one that it has found.
func (s *Stores) isWorkedOn(ctx context.Context, r Record, held string) bool {
	if held == "" || held == r.ID {
		return held == r.ID
	}
	_, err := get(ctx, s.cluster, held)
	return err != nil
}

// jobInUse is the job that the lock of a workspace is held for; empty if nobody works on one.
func jobInUse(workspace string, leases []coordinationv1.Lease, self lock.Holder, now time.Time) string {
	for _, l := range leases {
		if job := lock.JobInUse(&l, self, now); job != "" && l.Labels[kube.LabelCanonicalID] == kube.LabelValue(workspace) {
			return job
		}
	}
	return ""
}
