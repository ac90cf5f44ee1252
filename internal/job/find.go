package job

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/lock"
)

const (
	// leastShort is how many characters a short ID has at least, as in git.
	leastShort = 7
	wholeID    = len("00000000-0000-0000-0000-000000000000")
)

// ShortIDs are the shortest prefixes of IDs, of seven characters at least, that tell them apart.
func ShortIDs(records []Record) map[string]string {
	ids := make([]string, len(records))
	for i, r := range records {
		ids[i] = r.ID
	}
	slices.Sort(ids) // those that begin alike are neighbours
	ids = slices.Compact(ids)
	short := make(map[string]string, len(ids))
	for i, id := range ids {
		length := leastShort
		if i > 0 {
			length = max(length, common(id, ids[i-1])+1)
		}
		if i+1 < len(ids) {
			length = max(length, common(id, ids[i+1])+1)
		}
		short[id] = id[:min(length, len(id))]
	}
	return short
}

// common is how many bytes two texts have in common at the beginning.
func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// Find is the ID of the job that somebody means with it, or with the beginning of it.
func (s *Stores) Find(ctx context.Context, typed string) (id string, err error) {
	if len(typed) >= wholeID {
		return typed, nil
	}
	records, missing, err := s.List(ctx)
	if err != nil {
		return "", err
	}
	if id, err = choose(records, typed, s.cluster.Now()); missing != nil && fault.CodeOf(err) == fault.NotFound {
		err = missing
	}
	return id, err
}

// choose is the job whose ID begins with what was typed, or is that.
func choose(records []Record, typed string, now time.Time) (string, error) {
	var found []Record
	for _, r := range records {
		switch {
		case r.ID == typed:
			return typed, nil
		case strings.HasPrefix(r.ID, typed):
			found = append(found, r)
		}
	}
	switch len(found) {
	case 0:
		return "", notFound(typed)
	case 1:
		return found[0].ID, nil
	}
	err := fault.New(fault.InvalidArgument, "%q is ambiguous: %d jobs have such an ID", typed, len(found)).
		WithHint("give more of the ID")
	for _, r := range found {
		err.Problems = append(err.Problems,
			fmt.Sprintf("%s (%s, %s, %s)", r.ID, r.WorkspaceName, r.State(now), r.CreatedAt.UTC().Format(time.RFC3339)))
	}
	return "", err
}

func notFound(id string) error {
	return fault.New(fault.NotFound, "job %s not found", id).
		WithHint("`berth jobs` lists the jobs; records are kept for 48 hours if nothing else is configured")
}

// MayBeID is false for what is no beginning of a job's ID, which is a UUID.
func MayBeID(typed string) bool {
	return strings.Trim(strings.ToLower(typed), "0123456789abcdef-") == ""
}

// settling is how long the last write of a job may still take when its lock has been released.
const settling = 500 * time.Millisecond

// markAbandoned marks the records of jobs that nobody works on any more: each job has the lock of its workspace as long
// as it runs. It asks only if one of them would be told as running, and where it may not, or where records of NATS may
// be of other namespaces, it is the age of a record alone that tells. Nothing is written.
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
		if job := lock.JobInUse(&l, self, now); job != "" &&
			l.Labels[kube.LabelCanonicalID] == kube.LabelValue(workspace) {
			return job
		}
	}
	return ""
}
