package provision

import (
	"context"
	"strings"

	helm "helm.sh/helm/v3/pkg/release"

	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/desired"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/provision/manifest"
	"github.com/berthdev/berth/internal/release"
)

// loadRecorded reads what the workspace was made of, and makes every check. Nothing is written.
func (s session) loadRecorded(ctx context.Context, found inventory.Found) (dec decision, err error) {
	var may deploy.Permissions
	var values map[string]any
	err = s.steps.Parallel(
		s.permissionsStep(ctx, &may),
		event.Step{Name: "record", Quiet: true, Do: func() (_ string, err error) {
			values, err = s.valuesOf(ctx, found)
			return "", err
		}},
	)
	if err != nil {
		return decision{}, err
	}
	return s.fromValues(ctx, values, found, may)
}

// fromValues is a workspace that is made of values which are recorded. Only one that is to be made needs the drivers
// of its scratch storages.
func (s session) fromValues(ctx context.Context, values map[string]any, found inventory.Found,
	may deploy.Permissions,
) (dec decision, err error) {
	values, blueprint := manifest.OfJob(values, s.jobID)
	spec := manifest.Spec{User: s.user, Namespace: s.Client.Namespace, JobID: s.jobID, Blueprint: blueprint}
	dec.found, dec.fromRecord = found, true
	dec.deployment, dec.plan, err = s.target.LoadRecorded(values, spec, found, may)
	if err == nil {
		err = s.within(dec.deployment, found.Record)
	}
	if err == nil && dec.plan.Writes() {
		err = s.checkRecordedDrivers(ctx, dec)
	}
	dec.kept = err == nil && dec.plan == deploy.Install && s.target.OnlyPodMissing(found, dec.deployment)
	return dec, err
}

// within returns an error for what is recorded and no workspace is made of; or, of what is
// ordered, what has more rights than pods have at the level baseline, or its blueprint gives.
func (s session) within(d deploy.Deployment, record *helm.Release) error {
	problems := manifest.Beyond(s.id, d.Chart.Objects, record != nil && release.IsK8shells(record))
	if s.state().IsGuarded() {
		problems = append(problems, manifest.BeyondBaseline(d.Chart.Objects)...)
	}
	if len(problems) == 0 {
		return nil
	}
	err := fault.New(fault.Failed, "what is recorded of workspace %s is not started: %s", s.id, problems[0]).
		WithHint("make it of what its blueprint says: %s", fault.Command("berth", "update", s.user.String()))
	if len(problems) > 1 {
		err.Problems = problems
	}
	return err
}

// fromFormer reads what there is, and what it was made of before the last update, and
// makes every check. Nothing is written.
func (s session) fromFormer(ctx context.Context) (dec decision, err error) {
	var may deploy.Permissions
	var values map[string]any
	err = s.steps.Parallel(
		s.permissionsStep(ctx, &may),
		event.Step{Name: "lookup", Quiet: true, Do: func() (_ string, err error) {
			dec.found, err = s.lookup(ctx)
			return "", err
		}},
	)
	if err != nil {
		return dec, err
	}
	if values, err = s.target.Former(ctx); err != nil {
		return dec, err
	}
	if dec, err = s.fromValues(ctx, values, dec.found, may); err == nil && !dec.plan.Writes() {
		err = s.checkRecordedDrivers(ctx, dec)
	}
	return dec, err
}

// restoreStopped replaces what a provisioning would make of a workspace that is stopped by what
// it was: only an update reads the blueprint again. How the two differ is said.
func (s session) restoreStopped(ctx context.Context, dec decision) (decision, error) {
	if dec.plan != deploy.Install || dec.fromRecord {
		return dec, nil
	}
	if stopped, err := s.state().WasStopped(ctx); err != nil || !stopped {
		return dec, err
	}
	recorded, err := s.loadRecorded(ctx, dec.found)
	if desired.IsNotRecorded(err) {
		return dec, nil
	}
	if err == nil {
		if fields := manifest.Drift(recorded.deployment.Chart.Values, dec.deployment.Chart.Values); len(fields) > 0 {
			s.steps.Warn("BlueprintChanged", "", deploy.Drifted(s.user.String(), fields))
		}
	}
	return recorded, err
}

// isOutdated is true for a decision from a workspace's record where the record has changed since: carrying it out would
// undo what another command has updated. A pod of its own may have lost Helm's record, which is written again.
func (s session) isOutdated(ctx context.Context, dec decision, now inventory.Found) (bool, error) {
	if !dec.fromRecord {
		return false, nil
	}
	values, ok := s.target.Values(now)
	if !ok && dec.deployment.OwnPod {
		return false, nil
	}
	if !ok {
		var err error
		values, err = s.state().Values(ctx)
		switch {
		case desired.IsNotRecorded(err):
			return true, nil
		case err != nil:
			return false, err
		}
	}
	return len(manifest.Drift(dec.deployment.Chart.Values, values)) > 0, nil
}

// valuesOf are the chart's values that the workspace was made of: Helm's record has those of a pod of its own, the
// state record those of an injected one. Of the error that they are in neither, desired.IsNotRecorded is true.
func (s session) valuesOf(ctx context.Context, found inventory.Found) (map[string]any, error) {
	if values, ok := s.target.Values(found); ok {
		return values, s.state().Startable(found)
	}
	return s.state().Values(ctx)
}

// spared says whether a provisioning of what was found goes on without a blueprint: it runs,
// it is on its way, or it was stopped and starts as it was. What is wrong with what the
// caller has typed is an error in any case.
func (s session) spared(ctx context.Context, found inventory.Found, missing error) bool {
	typed := len(s.Overrides) > 0 && fault.CodeOf(missing) == fault.InvalidArgument
	if s.update != nil || typed || ctx.Err() != nil {
		return false
	}
	switch s.target.Decide(found, deploy.Deployment{}) {
	case deploy.Refuse, deploy.Resume:
		return true
	case deploy.Install:
		stopped, err := s.state().WasStopped(ctx)
		return err == nil && stopped
	default:
		return false
	}
}

// withoutBlueprint goes on with a workspace of whose blueprint nothing can be made: it may
// be gone, invalid, or not the caller's any more. What runs stays, and the rest is what is
// recorded. Where the blueprint is needed, the error is why it is missing.
func (s session) withoutBlueprint(ctx context.Context, f facts) (dec decision, err error) {
	if !s.spared(ctx, f.found, f.missing) {
		return dec, f.missing
	}
	dec.found, dec.plan = f.found, s.target.Decide(f.found, deploy.Deployment{})
	if dec.plan != deploy.Refuse {
		values, err := s.valuesOf(ctx, f.found)
		if desired.IsNotRecorded(err) {
			return dec, f.missing
		}
		if err == nil {
			dec, err = s.fromValues(ctx, values, f.found, f.may)
		}
		if err != nil {
			return dec, err
		}
	}
	s.steps.Warn("BlueprintUnknown", "", "what its blueprint says now is not known: "+inALine(f.missing))
	return dec, nil
}

// inALine is an error with the first of its problems.
func inALine(err error) string {
	why := fault.From(err)
	if len(why.Problems) == 0 {
		return why.Message
	}
	first, _, _ := strings.Cut(why.Problems[0], "\n")
	return why.Message + ": " + first
}
