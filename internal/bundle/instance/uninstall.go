package instance

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/apply/health"
	"github.com/berthdev/berth/internal/apply/hooks"
	"github.com/berthdev/berth/internal/apply/live"
	"github.com/berthdev/berth/internal/bundle/resource"
	"github.com/berthdev/berth/internal/english"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/lock"
)

// Removing says how an instance is to be removed.
type Removing struct {
	// Definitions of kinds are removed as well, and with them every object of these kinds.
	Definitions bool
	// KeepStorage leaves the claims for storage, and so their data.
	KeepStorage bool
	// Confirm is asked before data is removed, if there is any.
	Confirm func(Loss) error
	// NoWait does not wait until the objects are gone.
	NoWait bool
}

// Loss is the data that goes with what an uninstallation removes.
type Loss struct {
	// Objects are how many objects of each kind go with their definitions, by plural.group.
	Objects map[string]int64
	// Claims are the claims for storage.
	Claims []*unstructured.Unstructured
}

// Uninstall removes what an instance has installed, its release, its bundles, and then
// the instance. What is not its own is left and named.
func (r Reconciler) Uninstall(ctx context.Context, name string, o Removing, steps *event.Steps) (*v1.BundleRemoval,
	error,
) {
	if _, err := r.removable(ctx, name); err != nil {
		return nil, err
	}
	held, err := r.lock(ctx, name, forUninstall, steps)
	if err != nil {
		return nil, err
	}
	defer releaseLock(ctx, held)
	ctx, stop := held.Context(ctx)
	defer stop()
	k, err := r.removable(ctx, name) // again: the run that had the lock may have changed all of it
	if err != nil {
		return nil, err
	}
	if k.Instance != nil {
		if r, err = r.As(k.Instance.Spec.ServiceAccount); err != nil {
			return nil, err
		}
	}
	view := live.New(r.Installs.Dynamic, v1alpha1.LabelOwnerName+"="+name)
	defer view.Close()
	u := removal{Reconciler: r, name: name, known: k, held: held, view: view, steps: steps}
	return u.run(ctx, o)
}

// removable is what there is of an instance that can be uninstalled.
func (r Reconciler) removable(ctx context.Context, name string) (Snapshot, error) {
	k, err := r.Snapshot(ctx, name)
	switch {
	case err != nil:
		return k, err
	case k.Instance == nil && k.Release == nil:
		return k, notInstalled(name)
	case k.Instance != nil && !resource.IsOurs(k.Instance.Spec.ProvisionerClassName):
		return k, resource.CheckUsable(k.Instance)
	}
	return k, nil
}

// removal is the work of removing an instance, under its lock.
type removal struct {
	Reconciler
	name  string
	known Snapshot
	held  *lock.Lock
	view  *live.View
	steps *event.Steps
}

func (u removal) run(ctx context.Context, o Removing) (*v1.BundleRemoval, error) {
	applier := u.Applier(u.name, u.System)
	applier.Live, applier.Fence = u.view, u.held
	recorded, err := recordedHooks(u.known.Release)
	if err != nil {
		return nil, err
	}
	remove, keep, err := u.find(ctx, applier, o)
	if err != nil {
		return nil, err
	}
	if err := u.begin(ctx); err != nil {
		return nil, err
	}
	leaving := u.leaving(applier)
	if keep, err = u.runHooks(ctx, applier, "pre-delete", recorded, keep); err != nil {
		return nil, err
	}
	removed, keep, err := u.removeAll(ctx, applier, remove, leaving, keep, o)
	if err == nil {
		keep, err = u.runHooks(ctx, applier, "post-delete", recorded, keep)
	}
	if err == nil {
		err = u.orphan(ctx, applier, keep)
	}
	if err != nil {
		return nil, err
	}
	done := &v1.BundleRemoval{Name: u.name, Objects: removed}
	for _, l := range keep {
		done.Kept = append(done.Kept, l.kept())
	}
	return done, u.forget(ctx)
}

// removeAll removes objects and waits until they are gone, and those that are leaving. It
// returns their number, and what is kept.
func (u removal) removeAll(ctx context.Context, applier apply.Applier, remove, leaving []*unstructured.Unstructured,
	keep []left, o Removing,
) (removed int, all []left, err error) {
	err = u.steps.Do("uninstall", func() (string, error) {
		leaving := apply.Stages(leaving)
		for i, stage := range apply.Stages(remove) {
			stage, kept, err := u.emptied(ctx, stage, keep)
			if err != nil {
				return "", err
			}
			keep = append(keep, kept...)
			changes, err := applier.Remove(ctx, stage)
			removed += len(changes)
			if err == nil && !o.NoWait {
				err = u.waitGone(ctx, append(changes.Objects(), leaving[i]...))
			}
			if err != nil {
				return "", err
			}
		}
		return english.Count(removed, "object"), nil
	})
	return removed, keep, err
}

// leaving are the objects of the instance that are being deleted already.
func (u removal) leaving(applier apply.Applier) (objects []*unstructured.Unstructured) {
	for _, object := range u.view.Objects() {
		if applier.Owner.Owns(object) && object.GetDeletionTimestamp() != nil {
			objects = append(objects, object)
		}
	}
	return objects
}

// waitGone waits until the objects are gone. If it gives up, it says what is still there; the
// next run goes on from here.
func (u removal) waitGone(ctx context.Context, objects []*unstructured.Unstructured) error {
	rest, err := health.WaitGone(ctx, u.view, objects, func(rest []health.Reading) {
		if len(rest) > 0 {
			u.steps.Progress(v1.Progress{
				Message: "waiting for " + rest[0].Describe() + ": " + rest[0].Message,
				Done:    int64(len(objects) - len(rest)),
				Total:   int64(len(objects)),
			})
		}
	})
	if err == nil || len(rest) == 0 {
		return err
	}
	left := *fault.From(err)
	return left.WithDetail("still there is " + unhealthy(rest, err))
}

// runHooks runs hooks of the release, and says what is kept after that.
func (u removal) runHooks(ctx context.Context, applier apply.Applier, event string, recorded []hooks.Hook,
	keep []left,
) ([]left, error) {
	if len(hooks.At(recorded, event)) > 0 {
		err := u.steps.Do(event, func() (string, error) {
			return "", hooks.Run(ctx, applier, recorded, event, hookTime, func(h hooks.Hook) {
				u.steps.Note("running hook %s", kube.Object(h.Object.GetKind(), h.Object.GetName()))
			})
		})
		if err != nil {
			return nil, err
		}
	}
	return leftHooks(ctx, applier, recorded, keep)
}

// confirm asks about the data that would go.
func (u removal) confirm(ctx context.Context, applier apply.Applier, remove []*unstructured.Unstructured,
	o Removing,
) error {
	counts, err := applier.CountResources(ctx, remove)
	if err != nil || o.Confirm == nil {
		return err
	}
	loss := Loss{Objects: counts}
	for _, object := range remove {
		if apply.IsClaim(object) {
			loss.Claims = append(loss.Claims, object)
		}
	}
	if len(loss.Objects)+len(loss.Claims) == 0 {
		return nil
	}
	return o.Confirm(loss)
}

// forget removes the release, the bundles and the instance, which is the last that names
// what there was.
func (u removal) forget(ctx context.Context) error {
	if u.known.Release != nil {
		if _, err := u.records().Purge(ctx, u.name, u.held.Confirm, apply.DryRunNone); err != nil {
			return err
		}
	}
	if err := u.held.Confirm(ctx); err != nil {
		return err
	}
	for i := range u.known.Bundles {
		if err := u.objects().DeleteBundle(ctx, &u.known.Bundles[i]); err != nil {
			return err
		}
	}
	if u.known.Instance == nil {
		return nil
	}
	return u.objects().DeleteInstance(ctx, u.known.Instance)
}

// begin says on the instance that it is being uninstalled, before anything is removed.
func (u removal) begin(ctx context.Context) error {
	if u.known.Instance == nil || resource.IsUninstalling(u.known.Instance) {
		return nil
	}
	if err := u.held.Confirm(ctx); err != nil {
		return err
	}
	return u.objects().Annotate(ctx, u.known.Instance, v1alpha1.AnnotationUninstalling,
		u.Now().UTC().Format(time.RFC3339))
}
