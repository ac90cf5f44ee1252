package instance

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	helm "helm.sh/helm/v3/pkg/release"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/apply/health"
	"github.com/berthdev/berth/internal/apply/live"
	"github.com/berthdev/berth/internal/bundle/certificate"
	"github.com/berthdev/berth/internal/bundle/operator"
	"github.com/berthdev/berth/internal/bundle/resource"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/release"
)

// Snapshot is what the cluster has of an instance before a request.
type Snapshot struct {
	Instance *v1alpha1.Instance // nil if it does not exist
	Bundles  []v1alpha1.Bundle
	Release  *helm.Release // the newest record, or nil
	// Undefined is true if the cluster does not even have the kinds.
	Undefined bool
}

// Snapshot reads what the cluster has of an instance. One that is recorded in another system
// namespace is an error.
func (r Reconciler) Snapshot(ctx context.Context, name string) (k Snapshot, err error) {
	var current *helm.Release
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		k, err = r.fresh(groupCtx, name)
		return err
	})
	group.Go(func() (err error) {
		current, err = r.records().Latest(groupCtx, name)
		return err
	})
	if err = group.Wait(); fault.CodeOf(err) == fault.NotFound {
		return Snapshot{Undefined: true}, nil
	}
	if err == nil {
		err = resource.CheckRecorded(name, r.System, k.Bundles)
	}
	k.Release = current
	return k, err
}

// fresh reads an instance and its bundles again: what was read before the lock may have
// been changed, or deleted, by the run that had it. The release is read by the pass. The bundles
// come first: for another one, the instance is changed and then the bundle created, which
// would be cleaned up as one that nobody wants if the instance were the older of the two.
func (r Reconciler) fresh(ctx context.Context, name string) (k Snapshot, err error) {
	if k.Bundles, err = r.objects().Bundles(ctx, name); err == nil {
		k.Instance, err = r.objects().Instance(ctx, name)
	}
	return k, err
}

// Values are those that the instance was installed with last; empty if there are none.
func (k Snapshot) Values() (string, error) {
	if k.Instance == nil {
		return "", nil
	}
	c, err := resource.ConfigOf(k.Instance)
	return c.Values, err
}

// Watch are the namespaces that an operator was last told to watch; none if it was not.
func (k Snapshot) Watch() ([]string, error) {
	if k.Instance == nil {
		return nil, nil
	}
	c, err := resource.ConfigOf(k.Instance)
	return c.WatchNamespaces, err
}

// ServiceAccount is the one that the instance was to be installed as last; nil for none.
func (k Snapshot) ServiceAccount() *v1alpha1.ServiceAccount {
	if k.Instance == nil {
		return nil
	}
	return k.Instance.Spec.ServiceAccount
}

// Keep is where a request has its objects that name no namespace: where those of the
// instance are, once something is installed. Another one that somebody has asked for, and
// not only has in a context, is refused: all of it would be deleted and created again.
func (k Snapshot) Keep(system, namespace string, asked bool) (string, error) {
	if k.Instance == nil || k.Instance.Status.InstalledBundleName == "" ||
		!resource.IsOurs(k.Instance.Spec.ProvisionerClassName) {
		return namespace, nil
	}
	c, err := resource.ConfigOf(k.Instance)
	if err != nil {
		return "", err
	}
	if there := cmp.Or(c.Namespace, system); asked && namespace != there {
		return "", fault.New(fault.Conflict, "bundle %s is installed in namespace %s, and does not move to %s",
			k.Instance.Name, there, namespace).
			WithHint("leave out --namespace to upgrade it where it is, or uninstall it first: berth "+
				"bundle uninstall %s", k.Instance.Name)
	}
	return c.Namespace, nil
}

// notInstalled is the error about an instance that does not exist.
func notInstalled(name string) error {
	return fault.New(fault.NotFound, "bundle %s is not installed", name).WithHint("`berth bundle list` shows what is")
}

// Recorded are all instances, as their conditions say that they were when somebody last
// worked on them.
func (r Reconciler) Recorded(ctx context.Context) ([]v1.BundleState, error) {
	instances, err := r.objects().Instances(ctx)
	if fault.CodeOf(err) == fault.NotFound { // the kind is not even known
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	states := make([]v1.BundleState, len(instances))
	for i := range instances {
		states[i] = resource.StateOf(&instances[i], r.Now())
	}
	return states, nil
}

// lookedAt is how many instances are looked at side by side.
const lookedAt = 4

// States are all instances, as they are. Of one whose objects may not be read, that is said.
func (r Reconciler) States(ctx context.Context) ([]v1.BundleState, error) {
	states, err := r.Recorded(ctx)
	if err != nil {
		return nil, err
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(lookedAt)
	for i := range states {
		s := &states[i]
		if !isSettled(s) {
			continue
		}
		group.Go(func() error {
			err := r.lookAt(groupCtx, s)
			s.Objects, s.Watches, s.Certificates = nil, nil, nil
			if err != nil && groupCtx.Err() == nil {
				s.Warnings = append(s.Warnings, "whether that is still so cannot be seen: "+err.Error())
				err = nil
			}
			return err
		})
	}
	return states, group.Wait()
}

// lookAt makes the state of an instance what its objects say now.
func (r Reconciler) lookAt(ctx context.Context, s *v1.BundleState) error {
	record, err := r.records().Latest(ctx, s.Name)
	if err != nil {
		return err
	}
	return r.addObjects(ctx, s, record)
}

// State is one instance with its bundles and the health of each of its objects.
func (r Reconciler) State(ctx context.Context, name string) (*v1.BundleState, error) {
	k, err := r.Snapshot(ctx, name)
	if err != nil {
		return nil, err
	}
	if k.Instance == nil {
		return nil, notInstalled(name)
	}
	s := resource.StateOf(k.Instance, r.Now())
	for i := range k.Bundles {
		s.Bundles = append(s.Bundles, resource.BundleStateOf(&k.Bundles[i]))
	}
	slices.SortStableFunc(s.Bundles, func(a, b v1.BundleOfInstance) int { return strings.Compare(b.Name, a.Name) })
	return &s, r.addObjects(ctx, &s, k.Release)
}

// addObjects adds what is installed, by the release, and how the cluster is with it.
func (r Reconciler) addObjects(ctx context.Context, s *v1.BundleState, record *helm.Release) error {
	installed, err := r.installed(ctx, s.Name, record)
	if err != nil || installed == nil {
		return err
	}
	s.Revision = installed.Version
	objects, err := release.Objects(installed.Manifest)
	if err != nil {
		return err
	}
	if namespaces, is := operator.Watched(objects); is {
		s.Watches = &v1.WatchedNamespaces{All: len(namespaces) == 0, Namespaces: namespaces}
	}
	view := live.New(r.Installs.Dynamic, v1alpha1.LabelOwnerName+"="+s.Name)
	defer view.Close()
	applier := r.Applier(s.Name, r.System)
	applier.Live = view
	if err := applier.Watch(ctx, objects); err != nil {
		return err
	}
	var rest []health.Reading
	var places []int // of the rest among the objects
	for _, object := range objects {
		seen, o := object, v1.BundleObject{
			Object:    kube.Object(object.GetKind(), object.GetName()),
			Namespace: object.GetNamespace(), State: missing, Message: "it does not exist",
		}
		if resource, known, err := applier.ResourceOf(ctx, object.GroupVersionKind()); err == nil && known {
			if current, _ := view.Get(resource, object.GetNamespace(), object.GetName()); current != nil {
				seen = current
				state, message := health.StateOf(current)
				o.State, o.Message = string(state), message
			}
		}
		s.Objects = append(s.Objects, o)
		if certificate.Has(object) {
			s.Certificates = append(s.Certificates, certificateOf(seen, o.State != missing))
		}
		if o.State != string(health.Current) {
			rest, places = append(rest, health.Reading{Object: seen, State: health.State(o.State), Message: o.Message}),
				append(places, len(s.Objects)-1)
		}
	}
	rest, unseen := r.looker().Look(ctx, rest)
	for i, reading := range rest {
		o := &s.Objects[places[i]]
		o.State, o.Message, o.Cause = string(reading.State), reading.Message, reading.Cause
	}
	s.Warnings = append(s.Warnings, unseen...)
	applyHealth(s, rest, r.Now())
	return nil
}

// missing is the state of an object that is installed and does not exist.
const missing = "Missing"

// isSettled is true for an instance of which only its objects say whether it is well: what is
// wanted is installed, also by somebody who has not waited for its health.
func isSettled(s *v1.BundleState) bool {
	installed := slices.ContainsFunc(s.Conditions, func(c v1.BundleCondition) bool {
		return c.Type == v1alpha1.ConditionInstalled && c.Status == string(metav1.ConditionTrue)
	})
	return s.State == v1.BundleHealthy || s.State == v1.BundleUnhealthy || s.State == v1.BundlePending && installed
}

// applyHealth makes the health of an instance what its objects say now, of which rest are not as they
// should be: its condition says what they were when somebody last worked on it.
func applyHealth(s *v1.BundleState, rest []health.Reading, now time.Time) {
	if !isSettled(s) || len(s.Objects) == 0 {
		return
	}
	before := s.State
	healthy := v1.BundleCondition{
		Type: v1alpha1.ConditionHealthy, Status: "True", Reason: v1alpha1.ReasonHealthy,
		Message: allCurrent, Since: now.UTC(),
	}
	s.State, s.Message = v1.BundleHealthy, ""
	if len(rest) > 0 {
		healthy.Status, healthy.Reason, healthy.Message = "False", v1alpha1.ReasonUnhealthy, named(rest)
		s.State, s.Message = v1.BundleUnhealthy, healthy.Message
		if before == v1.BundlePending &&
			!slices.ContainsFunc(rest, func(r health.Reading) bool { return r.State != health.InProgress }) {
			s.State = before // it is on its way for the first time
		}
	}
	if resource.IsOurs(s.Class) && slices.ContainsFunc(rest,
		func(r health.Reading) bool { return r.State == missing }) {
		s.Warnings = append(s.Warnings,
			"what is missing is installed again by `berth bundle reconcile`, or by `berth serve "+
				"bundles` in the cluster")
	}
	for i := range s.Conditions {
		c := &s.Conditions[i]
		if c.Type != healthy.Type {
			continue
		}
		if s.State == before {
			healthy.Since = c.Since
		}
		*c = healthy
	}
}
