package provision

import (
	"context"
	"strings"

	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/desired"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/provision/manifest"
)

// loadRecorded reads what the workspace was made of, and makes every check. Nothing is written.
func (s provisioning) loadRecorded(ctx context.Context, found inventory.Found) (in inputs, err error) {
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
		return inputs{}, err
	}
	return s.fromValues(values, found, may)
}

// fromValues is a workspace that is made of values which are recorded.
func (s provisioning) fromValues(values map[string]any, found inventory.Found, may deploy.Permissions) (in inputs,
	err error,
) {
	values, blueprint := manifest.OfJob(values, s.jobID)
	spec := manifest.Spec{User: s.user, Namespace: s.Client.Namespace, JobID: s.jobID, Blueprint: blueprint}
	in.found, in.recalled = found, true
	in.deployment, in.plan, err = s.target.LoadRecorded(values, spec, found, may)
	if err == nil {
		err = s.within(in.deployment)
	}
	in.kept = err == nil && in.plan == deploy.Install && s.target.OnlyPodMissing(found, in.deployment)
	return in, err
}

// within returns an error for what is recorded and no workspace is made of; or, of what is
// ordered, what has more rights than pods have at the level baseline, or its blueprint gives.
func (s provisioning) within(d deploy.Deployment) error {
	problems := manifest.Beyond(s.id, d.Chart.Objects)
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

// recallFormer reads what there is, and what it was made of before the last update, and
// makes every check. Nothing is written.
func (s provisioning) recallFormer(ctx context.Context) (in inputs, err error) {
	var may deploy.Permissions
	var values map[string]any
	err = s.steps.Parallel(
		s.permissionsStep(ctx, &may),
		event.Step{Name: "lookup", Quiet: true, Do: func() (_ string, err error) {
			in.found, err = s.lookup(ctx)
			return "", err
		}},
	)
	if err != nil {
		return in, err
	}
	if values, err = s.target.Former(ctx); err != nil {
		return in, err
	}
	return s.fromValues(values, in.found, may)
}

// restoreStopped replaces what a provisioning would make of a workspace that is stopped by what
// it was: only an update reads the blueprint again. How the two differ is said.
func (s provisioning) restoreStopped(ctx context.Context, in inputs) (inputs, error) {
	if in.plan != deploy.Install || in.recalled {
		return in, nil
	}
	if stopped, err := s.state().WasStopped(ctx); err != nil || !stopped {
		return in, err
	}
	recalled, err := s.loadRecorded(ctx, in.found)
	if desired.IsNotRecorded(err) {
		return in, nil
	}
	if err == nil {
		if fields := manifest.Drift(recalled.deployment.Chart.Values, in.deployment.Chart.Values); len(fields) > 0 {
			s.steps.Warn("BlueprintChanged", "", deploy.Drifted(s.user.String(), fields))
		}
	}
	return recalled, err
}

// valuesOf are the chart's values that the workspace was made of.
func (s provisioning) valuesOf(ctx context.Context, found inventory.Found) (map[string]any, error) {
	if values, ok := s.target.Values(found); ok {
		return values, s.state().Startable(found)
	}
	return s.state().Values(ctx)
}

// spared says whether a provisioning of what was found goes on without a blueprint: it runs,
// it is on its way, or it was stopped and starts as it was. What is wrong with what the
// caller has typed is an error in any case.
func (s provisioning) spared(ctx context.Context, found inventory.Found, missing error) bool {
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
func (s provisioning) withoutBlueprint(ctx context.Context, in inputs, made making) (inputs, error) {
	if !s.spared(ctx, in.found, made.missing) {
		return in, made.missing
	}
	in.plan = s.target.Decide(in.found, deploy.Deployment{})
	if in.plan != deploy.Refuse {
		values, err := s.valuesOf(ctx, in.found)
		if desired.IsNotRecorded(err) {
			return in, made.missing
		}
		if err == nil {
			in, err = s.fromValues(values, in.found, made.may)
		}
		if err != nil {
			return in, err
		}
	}
	s.steps.Warn("BlueprintUnknown", "", "what its blueprint says now is not known: "+inALine(made.missing))
	return in, nil
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
