package instance

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/bundle/observe"
	"github.com/berthdev/berth/internal/bundle/resource"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/serve"
)

// leader names the server that reconciles a class all the time; empty if there is none.
func (r Reconciler) leader(ctx context.Context, class string) (string, error) {
	return serve.Leader(ctx, r.Own.CoordinationV1(), r.System, serve.LeaseName(class), r.Now)
}

// leaveTo writes what is wanted, and follows the server that brings it about.
func (p *pass) leaveTo(ctx context.Context, leader string, wanted, current *v1alpha1.Instance) (_ Outcome, err error) {
	if p.Force {
		return p.outcome, fault.New(fault.InvalidArgument,
			"--force-conflicts cannot be used while %s reconciles the bundles of this cluster: it takes no fields over",
			leader).
			WithHint("undo the changes that are in conflict, and leave out --force-conflicts")
	}
	if err := resource.RequestRetry(wanted, current, p.Now()); err != nil {
		return p.outcome, err
	}
	if p.in, err = p.objects().SetInstance(ctx, wanted, current); err != nil {
		return p.outcome, err
	}
	p.steps.Note("%s reconciles the bundles of this cluster", leader)
	p.outcome.Action = v1.BundleRequested
	if p.in.Spec.Template.Spec.Source.Type == v1alpha1.SourceUpload {
		b, err := p.ensureBundle(ctx)
		if err != nil {
			return p.outcome, err
		}
		p.outcome.Bundle = b.Name
	}
	if p.until == UntilInstalled {
		return p.outcome, nil
	}
	err = p.steps.Do("reconcile", func() (string, error) { return "by " + leader, p.followed(ctx) })
	return p.outcome, err
}

// followed waits until what is wanted is healthy, or has failed.
func (p *pass) followed(ctx context.Context) error {
	api := p.Own.Dynamic.Resource(v1alpha1.Instances())
	only := fields.OneTermEqualSelector("metadata.name", p.in.Name).String()
	source := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			o.FieldSelector = only
			return api.List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			o.FieldSelector = only
			return api.Watch(ctx, o)
		},
	}
	_, err := watchtools.UntilWithSync(ctx, source, &unstructured.Unstructured{}, nil,
		func(e watch.Event) (bool, error) {
			object, is := e.Object.(*unstructured.Unstructured)
			if !is || e.Type == watch.Deleted {
				return true, fault.New(fault.NotFound, "instance %s was deleted", p.in.Name)
			}
			var now v1alpha1.Instance
			if err := resource.Decode(object, &now); err != nil {
				return true, err
			}
			return p.arrived(&now)
		})
	return kube.Fault(err, resource.Call("watch", v1alpha1.Instances(), p.in.Name))
}

// arrived says whether an instance is where it was to be, and tells how far it is.
func (p *pass) arrived(now *v1alpha1.Instance) (bool, error) {
	switch {
	case now.Generation != p.in.Generation:
		return true, fault.New(fault.Conflict,
			"instance %s was changed by another client meanwhile: what becomes of that is not what was asked for here",
			p.in.Name).
			WithHint("`berth bundle status %s` shows it", p.in.Name)
	case now.Status.ObservedGeneration < p.in.Generation:
		return false, nil
	}
	if c := meta.FindStatusCondition(now.Status.Conditions, v1alpha1.ConditionInstalled); c != nil &&
		c.Reason == v1alpha1.ReasonErrorGettingClient {
		return true, fault.New(fault.Failed, "%s: %s", c.Reason, c.Message)
	}
	for _, kind := range []string{v1alpha1.ConditionHasValidBundle, v1alpha1.ConditionInstalled} {
		c := meta.FindStatusCondition(now.Status.Conditions, kind)
		switch {
		case c == nil || c.Status == metav1.ConditionUnknown || c.Reason == v1alpha1.ReasonUnpackPending:
			return false, nil
		case c.Status == metav1.ConditionFalse:
			return true, fault.New(fault.Failed, "%s: %s", c.Reason, c.Message)
		}
	}
	p.outcome.Bundle = now.Status.InstalledBundleName
	c := meta.FindStatusCondition(now.Status.Conditions, v1alpha1.ConditionHealthy)
	if c == nil || c.Status != metav1.ConditionTrue {
		if c != nil && c.Reason == v1alpha1.ReasonReconcileFailed {
			return true, fault.New(fault.Failed, "%s: %s", c.Reason, c.Message)
		}
		if c != nil && c.Reason == v1alpha1.ReasonObjectsFailed {
			return true, fault.New(fault.Failed, "%s", c.Message).
				WithHint("`berth bundle status %s` shows all of its objects", p.in.Name)
		}
		if c != nil {
			p.steps.Note("%s", c.Message)
		}
		return false, nil
	}
	p.outcome.Healthy = true
	return true, nil
}

// observe says what a server is to watch: what is installed, and what is to be.
func (p *pass) observe(ctx context.Context, applier apply.Applier, c changing) {
	scopes, err := applier.Scopes(ctx, slices.Concat(c.objects, c.before))
	if err != nil || ctx.Err() != nil {
		return // it stays as it is
	}
	installs := p.Installs
	p.outcome.Watch = observe.Set{
		As: p.account.String(), Scopes: scopes, Client: func() (metadata.Interface, error) {
			return metadata.NewForConfigAndClient(installs.Config, installs.HTTP)
		},
	}
}
