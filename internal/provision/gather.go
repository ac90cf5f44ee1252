package provision

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/uuid"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/provision/injection"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/provision/manifest"
	"github.com/berthdev/berth/internal/release"
)

// gather asks everything that does not depend on each other side by side. What
// goes wrong is reported in the order of the flow: who it is, what is there,
// what it is to be made of. Nothing is written.
func (r *run) gather(ctx context.Context) error {
	r.jobID = uuid.NewString()
	err := r.steps.side(
		work{name: "identity", do: func() (string, error) { return r.identify(ctx) }},
		work{name: "permissions", do: func() (string, error) { return r.review(ctx) }, quiet: true},
		work{name: "lookup", do: func() (string, error) { return r.findOut(ctx) }, quiet: true},
		work{name: "blueprint", do: func() (string, error) { return r.compose(ctx) }},
	)
	if err != nil {
		return err
	}
	if r.composed.Notice != "" {
		r.steps.Warning(v1.Warning{Reason: "Blueprint", Message: r.composed.Notice, Count: 1, At: r.Now().UTC()})
	}
	if r.blueprint, err = r.composed.Complete(ctx, r.user, r.identity); err != nil {
		return err
	}
	if err := Allowed(r.identity, r.blueprint); err != nil {
		return err
	}
	if err := r.checkCertificate(ctx); err != nil {
		return err
	}
	if err := r.render(); err != nil {
		return err
	}
	if err := r.permitted("provisioning", r.command(), r.wanted()); err != nil {
		return err
	}
	return r.examine()
}

func (r *run) identify(ctx context.Context) (string, error) {
	var err error
	r.identity, err = r.Users.Resolve(ctx, r.user.User)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s, from %s", r.user.User, r.identity.Provider), nil
}

func (r *run) findOut(ctx context.Context) (string, error) {
	var err error
	if r.found, err = r.survey(ctx); err != nil {
		return "", r.setAside(err)
	}
	return r.decide().String(), nil
}

// survey looks up what stands under the run's name: a pod and a record, or a
// workload and what is in it.
func (r *run) survey(ctx context.Context) (inventory.Found, error) {
	if r.user.Workload.IsZero() {
		return r.Lookup(ctx, r.id)
	}
	f, err := r.LookupInjected(ctx, r.id, r.user.Workload)
	if err != nil {
		return inventory.Found{}, err
	}
	w := f.Workload
	switch {
	case w.Object == nil:
		return inventory.Found{}, fault.New(fault.NotFound, "there is no %s in namespace %s", w.Ref, r.namespace).
			WithHint("see what there is: kubectl get %ss --namespace %s", w.Ref.Kind, r.namespace)
	case w.Record != nil && !w.Injected():
		return inventory.Found{}, injection.Taken(w.Object, w.Record)
	}
	return f, nil
}

func (r *run) compose(ctx context.Context) (string, error) {
	var err error
	r.composed, err = r.Compose(ctx, r.user)
	return strings.Join(r.composed.Lineage(), " ← "), err
}

// render is pure work, done before the lock is taken: a chart that cannot be
// rendered is found out while nothing is there yet.
func (r *run) render() error {
	if r.Access != nil {
		var err error
		if r.access, err = r.Access(); err != nil {
			return err
		}
	}
	if b := r.blueprint; b.Subdomain != "" && b.Hostname != "" && b.Hostname != r.id {
		r.steps.Progress(v1.Progress{Message: fmt.Sprintf("hostname %s is not used: with a subdomain the DNS name is made of the ID", b.Hostname)})
	}
	if err := r.access.Clone(r.user).Check(); err != nil {
		return err
	}
	_, r.homes = manifest.Injectable(r.blueprint)
	values, err := r.spec().Values()
	if err != nil {
		return err
	}
	if r.rendered, err = release.Render(values); err != nil {
		return err
	}
	return r.takeApart()
}

// spec is what is installed, as far as it is known by now.
func (r *run) spec() manifest.Spec {
	b, injected := r.blueprint, r.found.Workload != nil
	if injected {
		b, _ = manifest.Injectable(b)
	}
	return manifest.Spec{
		User: r.user, Namespace: r.namespace, Identity: r.identity, Blueprint: b, Injected: injected,
		Repository: r.access.Clone(r.user), Access: r.access, Certificate: r.Certificate, JobID: r.jobID,
	}
}
