package provision

import (
	"cmp"
	"context"

	helm "helm.sh/helm/v3/pkg/release"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/lock"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/release"
	"github.com/berthdev/berth/internal/watch"
	"github.com/berthdev/berth/internal/watch/cause"
)

// refused is the failure of a workspace whose pod, or what that needs, the
// cluster does not take. As there is no pod that tells of it, Helm's record does,
// to whoever looks later. Nil if no cause is known that fits.
func (r *run) refused(ctx context.Context, held *lock.Lock, record *helm.Release, by *kube.RefusedError) error {
	object := by.Call.Object()
	reading := watch.Refused(by.Message, object, r.Now())
	if record == nil || by.Call.Resource != "pods" && reading.Cause.Code == cause.PodRefused {
		return nil
	}
	release.Refused(record, object, by.Message)
	r.keep(ctx, held, record)
	return r.ends(reading)
}

// keep writes the record, unless the lock was lost meanwhile: then it is somebody
// else's. Left pending, it is healed as well.
func (r *run) keep(ctx context.Context, held *lock.Lock, record *helm.Release) {
	ctx, cancel := context.WithTimeout(ctx, recordTime)
	defer cancel()
	if held.Confirm(ctx) == nil && ctx.Err() == nil {
		_ = r.Records().Update(ctx, record)
	}
}

// refusedSince says whether the newer record tells of a refusal that the older
// one, which may be nil, does not tell of.
func refusedSince(before, now *helm.Release) bool {
	if now == nil {
		return false
	}
	if _, _, is := release.Refusal(now); !is {
		return false
	}
	if before == nil {
		return true
	}
	_, _, was := release.Refusal(before)
	return !was || !before.Info.LastDeployed.Equal(now.Info.LastDeployed)
}

// refusedToo is the failure that the record tells of, and whose job it was.
func (r *run) refusedToo() error {
	target := inventory.Target{ID: r.id, Namespace: r.namespace, Found: r.found}
	pod, reading := target.Podless()
	r.jobID = cmp.Or(pod.Labels[kube.LabelJobID], r.jobID)
	return r.ends(reading)
}

// ends tells of a failure that no watch tells of.
func (r *run) ends(reading v1.Snapshot) error {
	r.latest = r.explained(reading)
	r.steps.reached(r.latest)
	return r.failure(r.latest)
}
