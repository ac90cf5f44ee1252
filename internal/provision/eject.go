package provision

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/provision/injection"
	"github.com/berthdev/berth/internal/provision/workload"
	"github.com/berthdev/berth/internal/watch"
)

// removeInjected takes the workspace out of its workload and waits until the
// last pod that has it is gone.
func (r *run) removeInjected(ctx context.Context, deletion *v1.Deletion, noWait bool) error {
	ref := r.found.Workload.Ref
	err := r.steps.do("eject", func() (string, error) {
		var err error
		deletion.Objects, err = r.eject(ctx, noWait)
		return fmt.Sprintf("%s, %d objects", ref, deletion.Objects), err
	})
	if err != nil || r.follower == nil {
		return err
	}
	if r.stays() {
		return nil
	}
	err = r.awaitClean(ctx)
	deletion.Gone = err == nil
	return err
}

// stays tells of pods that keep the workspace although it was taken out, if they
// do: nobody waits for those.
func (r *run) stays() bool {
	why := r.found.Workload.Stays()
	if why != "" {
		r.steps.Warning(v1.Warning{Reason: "NotRolledOut", Message: why, Count: 1, Object: r.found.Workload.Ref.String(), At: r.Now().UTC()})
	}
	return why != ""
}

// eject patches the workload and removes objects, under the lock. The patch goes
// first: no pod is to be made that waits for a ConfigMap that is gone. A pod that
// runs keeps what it has mounted.
func (r *run) eject(ctx context.Context, noWait bool) (int, error) {
	if err := r.mayEject(ctx); err != nil {
		return 0, err
	}
	held, err := r.lockForDelete(ctx)
	if err != nil {
		return 0, err
	}
	defer r.release(ctx, held)
	now, err := workload.Read(ctx, r.Client, r.id, r.found.Workload.Ref)
	if err != nil {
		return 0, err
	}
	r.found.Workload = now
	if !noWait {
		if err := r.open(ctx); err != nil {
			return 0, err
		}
	}
	return r.takeOut(ctx, func(object map[string]any) (injection.Change, error) {
		return injection.Eject(object, r.id)
	}, nil)
}

// takeOut applies the change that takes the workspace out of its workload, and
// removes its objects but those that are to be spared.
func (r *run) takeOut(ctx context.Context, change func(map[string]any) (injection.Change, error), spared func(*unstructured.Unstructured) bool) (int, error) {
	w := r.found.Workload
	if w.Object != nil {
		if err := w.Patch(ctx, change); err != nil {
			return 0, err
		}
		if err := w.Unstick(ctx, ""); err != nil {
			return 0, err
		}
	}
	objects, err := workload.Objects(ctx, r.Client, r.id)
	if err != nil {
		return 0, err
	}
	if spared != nil {
		objects = slices.DeleteFunc(objects, spared)
	}
	removed, err := r.injector().Remove(ctx, objects)
	return len(removed), err
}

// awaitClean waits for the rollout of pods without the workspace. What goes
// wrong with those that are going concerns nobody; but one of a StatefulSet that
// its controller had made meanwhile, and that cannot become ready, would be
// waited for forever.
func (r *run) awaitClean(ctx context.Context) error {
	told, tries := -1, map[string]bool{}
	return r.follower.Until(ctx, func(s watch.State) bool {
		pods := s.Pods()
		for _, pod := range pods {
			if key := string(pod.UID); workload.Broken(pod) && !tries[key] {
				tries[key] = true
				_ = r.found.Workload.Unstick(ctx, "") // it is a help, and the waiting goes on without it
			}
		}
		if len(pods) != told {
			told = len(pods)
			r.steps.reached(workload.Leaving(r.id, pods, r.Now().UTC()))
		}
		return len(pods) == 0
	})
}
