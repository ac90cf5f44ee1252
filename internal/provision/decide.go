package provision

import (
	helm "helm.sh/helm/v3/pkg/release"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/provision/injection"
	"github.com/berthdev/berth/internal/provision/inventory"
)

// plan is what is to be done about what was found.
type plan string

const (
	install plan = "install" // nothing is there, or a record without a pod
	refuse  plan = "refuse"  // it runs
	resume  plan = "resume"  // a pod is on its way: complete what is missing, follow
	replace plan = "replace" // a pod failed, stopped or was asked to: make a new one
	await   plan = "await"   // a pod is going: wait, then install
)

// String says what is planned, for the person who waits.
func (p plan) String() string {
	switch p {
	case install:
		return "" // nothing is there, or nothing worth a word
	case refuse:
		return "running already"
	case resume:
		return "on its way: following it"
	case replace:
		return "failed or stopped before: making it anew"
	case await:
		return "the one before is ending: waiting for that"
	}
	return string(p)
}

// decide is the one place where it is decided what a provisioning does with
// what it finds. A workspace in a workload is stale if it is not what it would be
// made of now.
func decide(f inventory.Found, stale bool) plan {
	if f.Workload != nil {
		return decideInjected(f, stale)
	}
	if f.Pod == nil {
		return install
	}
	halfDone := f.Record == nil || f.Record.Info.Status != helm.StatusDeployed
	verdict := f.Reading.Verdict()
	if verdict != v1.VerdictTerminating && f.Reading.Status == v1.StatusStopping {
		return replace // somebody asked it to stop: it is as good as stopped
	}
	switch verdict {
	case v1.VerdictRunning:
		if halfDone {
			return resume
		}
		return refuse
	case v1.VerdictTerminating:
		return await
	case v1.VerdictFailed, v1.VerdictStopped:
		return replace
	default:
		return resume
	}
}

// decideInjected is decide for a workspace in a workload.
func decideInjected(f inventory.Found, stale bool) plan {
	if !f.Workload.Injected() {
		return install
	}
	switch f.Reading.Verdict() {
	case v1.VerdictRunning:
		return refuse
	case v1.VerdictFailed, v1.VerdictStopped:
		return replace
	}
	if stale {
		return replace
	}
	return resume
}

// decide says what this run does with what it has found.
func (r *run) decide() plan {
	stale := r.parts != nil && !injection.Current(r.found.Workload.Record, *r.parts)
	return decide(r.found, stale)
}
