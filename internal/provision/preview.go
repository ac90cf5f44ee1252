package provision

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/userstring"
)

// Preview is what Provision would change. It reads what Provision reads, and makes
// every check; nothing is written. With server set the API server is sent each
// object to check, and what it answers is returned.
func (p *Provisioner) Preview(ctx context.Context, u userstring.UserString, server bool, stream *event.Stream) (apply.Changes, error) {
	if err := p.validate(u); err != nil {
		return nil, err
	}
	s := p.For(u).begin(u, stream)
	in, err := s.gather(ctx) // identity, lookup, blueprint
	if err != nil {
		return nil, err
	}
	switch in.plan {
	case deploy.Refuse:
		_, err := s.alreadyRunning(in)
		return nil, err
	case deploy.Resume:
		s.steps.Note("%s is already starting: it would be followed", s.id)
		return nil, nil
	}
	dry := dryRun(server)
	namespace, err := s.previewNamespace(ctx, dry)
	if err != nil {
		return nil, err
	}
	if dry == apply.DryRunServer && len(namespace) > 0 {
		s.steps.Note("namespace %s does not exist: what is in it cannot be sent to the API server to check", s.Client.Namespace)
		dry = apply.DryRunClient
	}
	changes, err := s.target.Preview(ctx, in.plan, in.found, in.deployment, dry)
	return shown(append(namespace, changes...)), err
}

// PreviewDelete is what Delete would remove: of what the workspace can have, what
// exists.
func (p *Provisioner) PreviewDelete(ctx context.Context, t *inventory.Target, server bool) (apply.Changes, error) {
	s := p.in(t.Namespace).session(t.ID, t.Found.WorkloadRef(), nil)
	changes, err := s.target.PreviewRemove(ctx, t.Found, dryRun(server))
	return shown(changes), err
}

// shown are the changes without what stays as it is, and without who owns which
// field, as kubectl shows objects.
func shown(changes apply.Changes) apply.Changes {
	changes = changes.With(apply.Created, apply.Updated, apply.Deleted)
	for _, change := range changes {
		change.Object.SetManagedFields(nil)
	}
	return changes
}

func dryRun(server bool) apply.DryRun {
	if server {
		return apply.DryRunServer
	}
	return apply.DryRunClient
}

// previewNamespace is not empty if the namespace would be created. Who may not
// look whether it exists finds out in the end, unless it is to be created.
func (s session) previewNamespace(ctx context.Context, dry apply.DryRun) (apply.Changes, error) {
	namespaces, name := s.Client.CoreV1().Namespaces(), s.Client.Namespace
	_, err := namespaces.Get(ctx, name, metav1.GetOptions{})
	if err == nil || apierrors.IsForbidden(err) && !s.CreateNamespace {
		return nil, nil
	}
	if !apierrors.IsNotFound(err) || !s.CreateNamespace {
		return nil, kube.Fault(err, kube.Call{Verb: "get", Resource: "namespaces", Namespace: name, Name: name})
	}
	if dry == apply.DryRunServer {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		_, err := namespaces.Create(ctx, namespace, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err != nil {
			return nil, kube.Fault(err, kube.Call{Verb: "create", Resource: "namespaces", Name: name})
		}
	}
	return apply.Changes{{Action: apply.Created, Object: kube.Named("Namespace", name)}}, nil
}
