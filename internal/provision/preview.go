package provision

import (
	"context"
	"slices"

	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/userstring"
)

// Preview is what Provision would change. It makes the same reads and checks. In a
// dry run by the server, the objects are what the API server answers.
func (p *Provisioner) Preview(ctx context.Context, u userstring.UserString, dry apply.DryRun,
	stream *event.Stream,
) (apply.Changes, error) {
	if err := p.mayInject(u); err != nil {
		return nil, err
	}
	s := p.For(u).begin(u, stream)
	dec, err := s.fromBlueprint(ctx)
	if err != nil {
		return nil, err
	}
	switch dec.plan {
	case deploy.Refuse:
		_, err := s.alreadyRunning(dec)
		return nil, err
	case deploy.Resume:
		s.steps.Note("%s is already starting: it would be followed", s.id)
		return nil, nil
	}
	return s.preview(ctx, dec, dry)
}

// preview is what carrying out the plan would change.
func (s session) preview(ctx context.Context, dec decision, dry apply.DryRun) (apply.Changes, error) {
	namespace, err := s.previewNamespace(ctx, dry)
	if err != nil {
		return nil, err
	}
	if dry == apply.DryRunServer && len(namespace) > 0 {
		s.steps.Note("namespace %s does not exist: the API server cannot check the objects in it", s.Client.Namespace)
		dry = apply.DryRunClient
	}
	changes, err := s.previewObjects(ctx, dec, dry)
	return append(shown(namespace), changes...), err
}

// previewObjects is preview in a namespace that is known to exist.
func (s session) previewObjects(ctx context.Context, dec decision, dry apply.DryRun) (apply.Changes, error) {
	shared, err := s.sharer(dry).Apply(ctx, dec.deployment.Shared)
	if err != nil {
		return nil, err
	}
	own, err := s.target.Preview(ctx, dec.plan, dec.found, dec.deployment, dry)
	return shown(slices.Concat(shared, own)), err
}

// PreviewDelete is what Delete would remove: of what the workspace can have, what
// exists.
func (p *Provisioner) PreviewDelete(ctx context.Context, t *inventory.Target, how deploy.Removing) (apply.Changes,
	error,
) {
	s := p.in(t.Namespace).session(t.ID, t.Found.WorkloadRef(), nil)
	changes, err := s.target.PreviewRemove(ctx, t.Found, how)
	return shown(changes), err
}

// shown are the changes without what stays as it is.
func shown(changes apply.Changes) apply.Changes {
	return withReplaced(changes.With(apply.Created, apply.Updated, apply.Deleted))
}

// withReplaced are the changes with the deletion of what is created in place of another one.
func withReplaced(changes apply.Changes) (all apply.Changes) {
	for _, change := range changes {
		if change.InPlaceOf != nil {
			all = append(all, apply.Change{Action: apply.Deleted, Object: change.InPlaceOf.DeepCopy()})
		}
		all = append(all, change)
	}
	return all
}
