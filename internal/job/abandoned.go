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

// settling is how long the last write of a job may still take when its lock has been released.
const settling = 500 * time.Millisecond

// markAbandoned marks the records of jobs that nobody works on any more: each job has the lock
// of its workspace as long as it runs. It asks only if one of them would be told as running,
// and where it may not, or where records of NATS may be of other namespaces, it is the age of
// a record alone that tells. Nothing is written.
func (s *Stores) markAbandoned(ctx context.Context, records []Record) {
	now := s.cluster.Now()
	isRunning := func(r Record) bool { return r.State(now) == v1.JobRunning }
	if !slices.ContainsFunc(records, isRunning) {
		return
	}
	leases, err := s.cluster.Client.CoordinationV1().Leases(s.cluster.Namespace).
		List(ctx, metav1.ListOptions{LabelSelector: kube.LabelCanonicalID})
	if err != nil {
		return
	}
	var suspects []int
	for i, r := range records {
		taken := func(l coordinationv1.Lease) bool { return lock.JobOf(&l) == r.ID }
		if !isRunning(r) || s.nats != nil && !slices.ContainsFunc(leases.Items, taken) {
			continue
		}
		if !s.isWorkedOn(ctx, r, jobInUse(r.WorkspaceName, leases.Items, lock.Self(), now)) {
			suspects = append(suspects, i)
		}
	}
	if len(suspects) == 0 {
		return
	}
	// The end of a job releases the lock beside the last write.
	select {
	case <-time.After(settling):
	case <-ctx.Done():
		return
	}
	for _, i := range suspects {
		if again, err := s.read(ctx, records[i].ID); err == nil {
			again.abandoned = again.UpdatedAt.Equal(records[i].UpdatedAt)
			records[i] = again
		}
	}
}

// isWorkedOn says whether it is this job that the lock of its workspace is held for. The lock
// may name a job without a record: then its holder goes on with the one that it has found.
func (s *Stores) isWorkedOn(ctx context.Context, r Record, held string) bool {
	if held == "" || held == r.ID {
		return held == r.ID
	}
	_, err := s.read(ctx, held)
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
