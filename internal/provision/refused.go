package provision

import (
	"cmp"

	helm "helm.sh/helm/v3/pkg/release"

	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/release"
)

// refusedSince says whether the newer record reports a refusal by the cluster that
// the older one, which may be nil, does not report.
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

// refusedToo is the failure that the record reports, and whose job it was.
func (s provisioning) refusedToo(d deploy.Deployment, found inventory.Found) (ending, error) {
	pod, reading := (&inventory.Target{ID: s.id, Namespace: s.Client.Namespace, Found: found}).Podless()
	reading = d.About.Explain(reading)
	s.steps.Reached(reading)
	end := ending{found: found, reading: reading, job: cmp.Or(pod.Labels[kube.LabelJobID], s.jobID)}
	return end, d.About.Failure(reading)
}
