package provision

import (
	"context"
	"fmt"
	"slices"

	helm "helm.sh/helm/v3/pkg/release"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/provision/manifest"
	"github.com/berthdev/berth/internal/release"
	"github.com/berthdev/berth/internal/userstring"
)

// Preview is what Provision would change. It reads what Provision reads, and
// every check is made; nothing is written. With server set the API server is
// given each object to check, and what it answers is what is returned.
func (p *Provisioner) Preview(ctx context.Context, u userstring.UserString, server bool, stream *event.Stream) (apply.Changes, error) {
	if err := Supported(u); err != nil {
		return nil, err
	}
	if err := p.Injection.allow(u); err != nil {
		return nil, err
	}
	p = p.For(u)
	r := &run{Provisioner: p, user: u, id: u.ID(), namespace: p.Client.Namespace, steps: newSteps(stream, p.Now)}
	return r.preview(ctx, server)
}

func (r *run) preview(ctx context.Context, server bool) (apply.Changes, error) {
	if err := r.gather(ctx); err != nil {
		return nil, err
	}
	what := r.decide()
	switch what {
	case refuse:
		return nil, alreadyRunning(r.id, r.user)
	case resume:
		r.note("%s is on its way: it would be followed", r.id)
		return nil, nil
	}
	if r.parts != nil {
		return r.previewInjection(ctx, server)
	}
	changes, err := r.previewNamespace(ctx, server)
	if err != nil {
		return nil, err
	}
	if server && len(changes) > 0 {
		r.note("namespace %s does not exist: what is in it could not be given to the API server to check", r.namespace)
		server = false
	}
	spec := r.spec()
	shared, err := dry(r.sharer(), server).Apply(ctx, spec.Shared())
	if err != nil {
		return nil, err
	}
	record, err := r.previewRecord(ctx, server)
	if err != nil {
		return nil, err
	}
	own, err := dry(r.installer(), server).Apply(ctx, r.wantedOfRelease(spec))
	if err != nil {
		return nil, err
	}
	if what == replace || what == await {
		own = append(own, r.previewPod()...)
	}
	return slices.Concat(changes, changed(shared), record, changed(own)), nil
}

// dry is an applier that keeps nothing; with server set, the API server checks
// what it would write.
func dry(a apply.Applier, server bool) apply.Applier {
	a.DryRun = apply.DryRunClient
	if server {
		a.DryRun = apply.DryRunServer
	}
	return a
}

func changed(changes apply.Changes) apply.Changes {
	return changes.With(apply.Created, apply.Updated, apply.Deleted)
}

// previewNamespace is not empty if the namespace would be made. Who may not look
// whether it exists finds out in the end, unless it shall be made.
func (r *run) previewNamespace(ctx context.Context, server bool) (apply.Changes, error) {
	namespaces := r.Client.CoreV1().Namespaces()
	_, err := namespaces.Get(ctx, r.namespace, metav1.GetOptions{})
	if err == nil || apierrors.IsForbidden(err) && !r.CreateNamespace {
		return nil, nil
	}
	if !apierrors.IsNotFound(err) || !r.CreateNamespace {
		return nil, kube.Fault(err, kube.Call{Verb: "get", Resource: "namespaces", Namespace: r.namespace, Name: r.namespace})
	}
	if server {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: r.namespace}}
		_, err := namespaces.Create(ctx, namespace, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err != nil {
			return nil, kube.Fault(err, kube.Call{Verb: "create", Resource: "namespaces", Name: r.namespace})
		}
	}
	return apply.Changes{{Action: apply.Created, Object: kube.Named("Namespace", r.namespace)}}, nil
}

// previewRecord is Helm's record, and what an older one names and is not wanted
// any more.
func (r *run) previewRecord(ctx context.Context, server bool) (apply.Changes, error) {
	record := release.NewRecord(r.id, r.namespace, r.rendered, r.Now())
	record.Info.Status = helm.StatusDeployed
	var changes apply.Changes
	if old := r.found.Record; old != nil {
		record.Version = old.Version
		objects, err := release.Objects(old.Manifest)
		if err != nil {
			return nil, err
		}
		unwanted, _ := apply.Leftovers(objects, r.rendered.Objects)
		if changes, err = dry(r.installer(), server).Remove(ctx, unwanted); err != nil {
			return nil, err
		}
	}
	action := apply.Created
	if r.found.Record != nil {
		action = apply.Updated
	}
	object, err := r.Records().Plan(ctx, record, r.found.Record != nil, server)
	return append(changes, apply.Change{Action: action, Object: object}), err
}

// previewPod is the pod that stands where the new one would: the API server
// cannot be asked about the latter as long as the former is there.
func (r *run) previewPod() (changes apply.Changes) {
	for _, object := range r.rendered.Objects {
		if object.GetKind() == "Pod" {
			object = object.DeepCopy()
			object.SetNamespace(r.namespace)
			changes = append(changes,
				apply.Change{Action: apply.Deleted, Object: kube.Named("Pod", r.id)},
				apply.Change{Action: apply.Created, Object: object})
		}
	}
	return changes
}

// PreviewDelete is what Delete would remove: of what the workspace has, that
// which there is.
func (p *Provisioner) PreviewDelete(ctx context.Context, t *inventory.Target, server bool) (apply.Changes, error) {
	p = p.in(t.Namespace)
	r := &run{Provisioner: p, id: t.ID, namespace: t.Namespace, found: t.Found}
	if t.Found.Workload != nil {
		return r.previewEjection(ctx, server)
	}
	objects, err := r.objects()
	if err != nil {
		return nil, err
	}
	objects = append(objects, manifest.Certified(objects)...)
	objects = append(objects, kube.Named("Secret", manifest.GitSecret(r.id))) // goes with its ConfigMap
	records, err := r.Records().Names(ctx, r.id)
	if err != nil {
		return nil, err
	}
	for _, name := range records {
		objects = append(objects, kube.Named("Secret", name))
	}
	return dry(r.installer(), server).Remove(ctx, objects)
}

func (r *run) note(format string, args ...any) {
	r.steps.Progress(v1.Progress{Message: fmt.Sprintf(format, args...)})
}
