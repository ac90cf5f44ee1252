package provision

import (
	"context"
	"strings"

	helm "helm.sh/helm/v3/pkg/release"

	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/release"
	"github.com/berthdev/berth/internal/watch"
)

// refused is the failure of a workspace whose pod, or what that needs, the
// cluster does not take. As there is no pod that tells of it, Helm's record does,
// to whoever looks later. Nil if no cause is known that fits.
func (r *run) refused(ctx context.Context, record *helm.Release, by *kube.RefusedError) error {
	object := kube.Object(strings.TrimSuffix(by.Call.Resource, "s"), by.Call.Name)
	reading := watch.Refused(by.Message, object, r.Now())
	if record == nil || by.Call.Resource != "pods" && reading.Cause.Code == watch.CausePodRefused {
		return nil
	}
	release.Refused(record, object, by.Message)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTime)
	defer cancel()
	_ = r.Records().Update(ctx, record) // left pending, it is healed as well
	r.latest = r.explained(reading)
	r.steps.reached(r.latest)
	return r.failure(r.latest)
}
