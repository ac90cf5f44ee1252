// Package injected deploys a workspace into the pods of a workload: beside its
// containers, by a patch of the pod template.
package injected

import (
	"context"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/lock"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/injection"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/provision/manifest"
	"github.com/berthdev/berth/internal/userstring"
)

// Target is a workspace in the pods of a workload.
type Target struct {
	inventory.Reader
	ID  string
	Ref userstring.Workload
	// Force injects even if it makes little sense.
	Force bool
	Steps *deploy.Steps
}

// Lookup finds the workload and, if the workspace is in it, how that is doing and
// what belongs to it.
func (t Target) Lookup(ctx context.Context) (inventory.Found, error) {
	found, err := t.LookupWhole(ctx, t.ID, t.Ref)
	if err != nil {
		return inventory.Found{}, err
	}
	w := found.Workload
	switch {
	case w.Object == nil:
		return inventory.Found{}, t.notThere()
	case w.Record != nil && !w.Injected():
		return inventory.Found{}, injection.Taken(w.Object, w.Record)
	}
	return found, nil
}

// notThere is the error of a workload that does not exist.
func (t Target) notThere() error {
	return fault.New(fault.NotFound, "%s not found in namespace %s", t.Ref, t.Client.Namespace).
		WithHint("list what there is: %s", fault.Command("kubectl", "get", t.Ref.Kind+"s", "--namespace",
			t.Client.Namespace))
}

// Decide says what a provisioning does about what it has found. A workspace that
// is not ready yet is replaced if it is not what would be injected now.
func (Target) Decide(found inventory.Found, d deploy.Deployment) deploy.Plan {
	rendered := d.Parts.ID != ""
	incomplete := len(apply.Without(d.Objects, found.Objects, d.Spec.Namespace)) > 0
	return decide(found, rendered && !injection.Current(found.Workload.Record, d.Parts), incomplete)
}

// decide is Decide of a workspace that is not what would be injected now, or some of
// whose objects are gone: a pod that has mounted them runs on, the next one would not
// start.
func decide(found inventory.Found, outdated, incomplete bool) deploy.Plan {
	if !found.Workload.Injected() {
		return deploy.Install
	}
	verdict := found.Reading.Verdict()
	switch {
	case verdict == v1.VerdictFailed, verdict == v1.VerdictStopped, verdict != v1.VerdictRunning && outdated:
		return deploy.Replace
	case incomplete:
		return deploy.Heal
	case verdict == v1.VerdictRunning:
		return deploy.Refuse
	}
	return deploy.Resume
}

// Drift compares what was injected with what would be now.
func (t Target) Drift(found inventory.Found, d deploy.Deployment) []string {
	w := found.Workload
	if !w.Injected() || injection.Current(w.Record, d.Parts) {
		return nil
	}
	wanted := injection.Settings(t.ID, d.Parts.Containers)
	if fields := manifest.Drift(injection.Settings(t.ID, injection.Containers(w.Object)), wanted); len(fields) > 0 {
		return fields
	}
	return []string{deploy.AnotherBlueprint}
}

// applier is for objects of no release: they belong to the workspace whose
// canonical ID they carry.
func (t Target) applier(held *lock.Lock, dry apply.DryRun) apply.Applier {
	owner := apply.Owner{
		Name:   "workspace " + t.ID,
		Labels: map[string]string{kube.LabelCanonicalID: kube.LabelValue(t.ID)},
	}
	return deploy.Applier(t.Reader, owner, held, dry)
}
