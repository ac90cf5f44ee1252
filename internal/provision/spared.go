package provision

import (
	"context"
	"strings"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/inventory"
)

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
		stopped, err := s.wasStopped(ctx)
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
		if fault.ReasonOf(err) == reasonNotRecorded {
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
