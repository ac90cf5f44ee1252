package provision

import (
	"context"
	"fmt"
	"strings"

	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/identity"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/provision/limit"
	"github.com/berthdev/berth/internal/provision/manifest"
	"github.com/berthdev/berth/internal/rbac"
)

// inputs are what a provisioning starts from.
type inputs struct {
	found      inventory.Found
	deployment deploy.Deployment
	plan       deploy.Plan
	kept       bool // only the pod is missing
	recalled   bool // the deployment is of what is recorded, not of the blueprint
	// drift is in what a workspace that runs or starts differs from the deployment.
	drift []string
}

// gather makes all reads that do not depend on each other in parallel, and then
// every check. Errors are reported in the order of the steps: what was found comes before
// its blueprint, which not every workspace needs. Nothing is written.
func (s provisioning) gather(ctx context.Context) (inputs, error) {
	var (
		in      inputs
		made    making
		counted limit.Count
	)
	looked := make(chan struct{})
	err := s.steps.Parallel(append(s.countStep(ctx, &counted),
		event.Step{Name: "identity", Do: func() (_ string, err error) {
			made.user, err = s.Users.Resolve(ctx, s.user.User)
			return fmt.Sprintf("%s, from %s", s.user.User, made.user.Provider), err
		}},
		s.permissionsStep(ctx, &made.may),
		event.Step{Name: "lookup", Quiet: true, Do: func() (_ string, err error) {
			defer close(looked)
			in.found, err = s.lookup(ctx)
			if fault.CodeOf(err) == fault.PermissionDenied {
				made.may.Unread = err // reported together with whatever else is missing
				return "", nil
			}
			if err != nil {
				return "", err
			}
			return s.target.Decide(in.found, deploy.Deployment{}).String(), nil
		}},
		event.Step{Name: "blueprint", Do: func() (_ string, err error) {
			if made.composed, err = s.Compose(ctx, s.user); err == nil {
				made.scratch = s.driverFor(ctx, made.composed)
				return strings.Join(made.composed.Lineage(), " ← "), nil
			}
			<-looked
			if s.spared(ctx, in.found, err) {
				made.missing = err
				return "not known, and not needed", nil
			}
			return "", err
		}},
	)...)
	if err != nil {
		return inputs{}, err
	}
	if made.missing == nil {
		in.deployment, in.plan, made.missing = s.prepare(ctx, in.found, made)
	}
	if made.missing != nil {
		return s.withoutBlueprint(ctx, in, made)
	}
	if !in.plan.Writes() && s.update == nil {
		if in.drift = s.target.Drift(in.found, in.deployment); len(in.drift) > 0 {
			s.steps.Warn("BlueprintChanged", "", deploy.Drifted(s.user.String(), in.drift))
		}
	}
	return in, s.Allowance.Admit(s.user, s.Client.Namespace, in.found, counted)
}

// making is what is read to make a workspace.
type making struct {
	user     identity.User
	may      deploy.Permissions
	composed Composed
	scratch  driver
	// missing is why nothing can be made of the blueprint.
	missing error
}

// prepare makes what is to be deployed of what was read, and every check.
func (s provisioning) prepare(ctx context.Context, found inventory.Found, made making) (deploy.Deployment,
	deploy.Plan, error,
) {
	spec, err := s.specify(ctx, made.user, made.composed, made.scratch)
	if err != nil {
		return deploy.Deployment{}, "", err
	}
	return s.target.Prepare(spec, found, made.may)
}

// countStep is the step that counts the workspaces; none if nothing limits them.
func (s provisioning) countStep(ctx context.Context, c *limit.Count) []event.Step {
	if s.Allowance == nil {
		return nil
	}
	return []event.Step{{Name: "count", Quiet: true, Do: func() (string, error) {
		*c = limit.CountIn(ctx, s.Reader, s.States)
		return "", nil // it counts for one that is not there yet only
	}}}
}

// permissionsStep is the step that reads the caller's permissions.
func (s session) permissionsStep(ctx context.Context, may *deploy.Permissions) event.Step {
	return event.Step{Name: "permissions", Quiet: true, Do: func() (_ string, err error) {
		may.Review, err = rbac.Ask(ctx, s.Client, s.Client.Namespace)
		return "", err
	}}
}

// lookup finds what is there under the workspace's name, which may be that of another
// user string.
func (s provisioning) lookup(ctx context.Context) (inventory.Found, error) {
	found, err := s.target.Lookup(ctx)
	if err == nil {
		err = found.BelongsTo(s.user)
	}
	return found, err
}

// specify completes the blueprint, which takes knowing the user, and checks what
// the workspace is made of.
func (s provisioning) specify(ctx context.Context, user identity.User, composed Composed,
	scratch driver,
) (spec manifest.Spec, err error) {
	if composed.Notice != "" {
		s.steps.Warn("Blueprint", "", composed.Notice)
	}
	b, err := composed.Complete(ctx, s.user, user)
	if err != nil {
		return spec, err
	}
	if err := Allowed(user, b); err != nil {
		return spec, err
	}
	if err := s.checkDriver(ctx, b, scratch); err != nil {
		return spec, err
	}
	if err := s.checkCertificate(ctx); err != nil {
		return spec, err
	}
	spec = manifest.Spec{
		User: s.user, Namespace: s.Client.Namespace, Identity: user, Blueprint: b,
		Certificate: s.Certificate, JobID: s.jobID,
	}
	if s.Access != nil {
		if spec.Access, err = s.Access(); err != nil {
			return spec, err
		}
	}
	for _, note := range spec.Unused() {
		s.steps.Note("%s", note)
	}
	spec.Repository = spec.Access.Clone(s.user)
	return spec, spec.Repository.Check()
}
