package standalone

import (
	"context"

	helm "helm.sh/helm/v3/pkg/release"

	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/lock"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/release"
	"github.com/berthdev/berth/internal/watch"
	"github.com/berthdev/berth/internal/watch/cause"
)

// refused is the end of a workspace of which the cluster refuses the pod, or
// what that needs. As there is no pod to tell of it, Helm's record does, to
// whoever looks later. A refusal of no known cause stays the error that it is.
func (t Target) refused(ctx context.Context, held *lock.Lock, d deploy.Deployment, result deploy.Result, by *kube.RefusedError, err error) (deploy.Result, error) {
	object := by.Call.Object()
	reading := watch.Refused(by.Message, object, t.Now())
	if result.Record == nil || by.Call.Resource != "pods" && reading.Cause.Code == cause.PodRefused {
		return result, err
	}
	release.Refused(result.Record, object, by.Message)
	t.updateRecord(ctx, held, result.Record)
	result.Reading = d.About.Explain(reading)
	t.Steps.Reached(result.Reading)
	return result, d.About.Failure(reading)
}

// updateRecord writes the record, unless the lock was lost meanwhile: then it is
// somebody else's. Left pending, it is healed as well.
func (t Target) updateRecord(ctx context.Context, held *lock.Lock, record *helm.Release) {
	ctx, cancel := context.WithTimeout(ctx, recordTime)
	defer cancel()
	if held.Confirm(ctx) == nil && ctx.Err() == nil {
		_ = t.Records().Update(ctx, record)
	}
}
