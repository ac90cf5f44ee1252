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

// facts are what a run has read when it decides.
type facts struct {
	found    inventory.Found
	user     identity.User
	may      deploy.Permissions
	composed Composed
	scratch  drivers
	counted  limit.Count
	// missing is why nothing can be made of the blueprint.
	missing error
}

// gather makes all reads that do not depend on each other in parallel. Errors are reported in the order of
// the steps: what was found comes before its blueprint, which not every workspace needs.
func (s session) gather(ctx context.Context) (f facts, err error) {
	looked := make(chan struct{})
	err = s.steps.Parallel(append(s.countStep(ctx, &f.counted),
		event.Step{Name: "identity", Do: func() (_ string, err error) {
			f.user, err = s.Users.Resolve(ctx, s.user.User)
			return fmt.Sprintf("%s, from %s", s.user.User, f.user.Provider), err
		}},
		s.permissionsStep(ctx, &f.may),
		event.Step{Name: "lookup", Quiet: true, Do: func() (_ string, err error) {
			defer close(looked)
			f.found, err = s.lookup(ctx)
			if fault.CodeOf(err) == fault.PermissionDenied {
				f.may.Unread = err // reported together with whatever else is missing
				return "", nil
			}
			if err != nil {
				return "", err
			}
			return s.target.Decide(f.found, deploy.Deployment{}).String(), nil
		}},
		event.Step{Name: "blueprint", Do: func() (_ string, err error) {
			if f.composed, err = s.Compose(ctx, s.user); err == nil {
				// Early, so that the answer comes with the other reads.
				f.scratch = s.askForDrivers(ctx, f.composed.Scratch(), nil)
				return strings.Join(f.composed.Lineage(), " ← "), nil
			}
			<-looked
			if s.spared(ctx, f.found, err) {
				f.missing = err
				return "not known, and not needed", nil
			}
			return "", err
		}},
	)...)
	return f, err
}

// decision is what a run is going to do. Nothing is written yet.
type decision struct {
	found      inventory.Found
	deployment deploy.Deployment
	plan       deploy.Plan
	kept       bool // only the pod is missing
	fromRecord bool // the deployment is of what is recorded, not of the blueprint
	// drift is in what a workspace that runs or starts differs from the deployment.
	drift []string
}

// decide says what to do about what was read, and makes every check. It reads no more, but for a workspace
// that is stopped, or whose blueprint takes something of the cluster.
func (s session) decide(ctx context.Context, f facts) (dec decision, err error) {
	dec.found = f.found
	if f.missing == nil {
		dec.deployment, dec.plan, f.missing = s.prepare(ctx, f)
	}
	if f.missing != nil {
		return s.withoutBlueprint(ctx, f)
	}
	if !dec.plan.Writes() && s.update == nil {
		if dec.drift = s.target.Drift(dec.found, dec.deployment); len(dec.drift) > 0 {
			s.steps.Warn("BlueprintChanged", "", deploy.Drifted(s.user.String(), dec.drift))
		}
	}
	if err := s.Allowance.Admit(s.user, s.Client.Namespace, dec.found, f.counted); err != nil {
		return dec, err
	}
	if s.update != nil { // only an update reads the blueprint of a stopped workspace again
		return dec, nil
	}
	return s.restoreStopped(ctx, dec)
}

// fromBlueprint is the decision about what the blueprint says now.
func (s session) fromBlueprint(ctx context.Context) (decision, error) {
	f, err := s.gather(ctx)
	if err != nil {
		return decision{}, err
	}
	return s.decide(ctx, f)
}

// prepare renders what is to be deployed, and makes every check.
func (s session) prepare(ctx context.Context, f facts) (deploy.Deployment, deploy.Plan, error) {
	spec, err := s.specify(ctx, f.user, f.composed, f.scratch)
	if err != nil {
		return deploy.Deployment{}, "", err
	}
	return s.target.Prepare(spec, f.found, f.may)
}

// countStep is the step that counts the workspaces; none if nothing limits them.
func (s session) countStep(ctx context.Context, c *limit.Count) []event.Step {
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
	return event.Step{Name: "permissions", Quiet: true, Do: func() (string, error) {
		read, err := s.permissions(ctx)
		may.Review = read.Review // the lookup beside it may note what it was refused
		return "", err
	}}
}

// permissions are what the caller may do.
func (s session) permissions(ctx context.Context) (deploy.Permissions, error) {
	review, err := rbac.Ask(ctx, s.Client, s.Client.Namespace)
	return deploy.Permissions{Review: review}, err
}

// lookup finds what is there under the workspace's name, which may be that of another
// user string.
func (s session) lookup(ctx context.Context) (inventory.Found, error) {
	found, err := s.target.Lookup(ctx)
	if err == nil {
		err = found.BelongsTo(s.user)
	}
	return found, err
}

// specify completes the blueprint, which takes knowing the user, and checks what
// the workspace is made of.
func (s session) specify(ctx context.Context, user identity.User, composed Composed,
	scratch drivers,
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
	if err := s.checkDrivers(ctx, b.Scratch(), scratch, b.Name); err != nil {
		return spec, err
	}
	if err := s.checkCertificate(ctx); err != nil {
		return spec, err
	}
	spec = manifest.Spec{
		User: s.user, Namespace: s.Client.Namespace, Identity: user, Blueprint: b,
		Certificate: s.Certificate, ControlNamespace: s.ControlNamespace, APIServer: s.APIServer, JobID: s.jobID,
	}
	if s.Access != nil {
		if spec.Access, err = s.Access(); err != nil {
			return spec, err
		}
	}
	for _, note := range spec.Notes() {
		s.steps.Note("%s", note)
	}
	spec.Repository = spec.Access.Clone(s.user)
	return spec, spec.Repository.Check()
}
