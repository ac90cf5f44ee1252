package standalone

import (
	helm "helm.sh/helm/v3/pkg/release"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/inventory"
)

// Decide says what a provisioning does about what it has found.
func (Target) Decide(found inventory.Found, _ deploy.Deployment) deploy.Plan { return decide(found) }

func decide(f inventory.Found) deploy.Plan {
	switch {
	case f.Pod == nil && f.Record == nil:
		return deploy.Create
	case f.Pod == nil:
		return deploy.Install
	}
	verdict := f.Reading.Verdict()
	if verdict != v1.VerdictTerminating && f.Reading.Status == v1.StatusStopping {
		return deploy.Replace // somebody asked it to stop: it is as good as stopped
	}
	switch verdict {
	case v1.VerdictRunning:
		if f.Record == nil || f.Record.Info.Status != helm.StatusDeployed {
			return deploy.Resume
		}
		return deploy.Refuse
	case v1.VerdictTerminating:
		return deploy.Await
	case v1.VerdictFailed, v1.VerdictStopped:
		return deploy.Replace
	default:
		return deploy.Resume
	}
}
