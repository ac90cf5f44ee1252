package provision

import (
	"context"
	"fmt"

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
	if why := r.found.Workload.Stays(); why != "" {
		r.steps.Warning(v1.Warning{Reason: "NotRolledOut", Message: why, Count: 1, Object: ref.String(), At: r.Now().UTC()})
		return nil
	}
	err = r.awaitClean(ctx)
	deletion.Gone = err == nil
	return err
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
	if r.found.Workload.Object != nil {
		err := r.found.Workload.Patch(ctx, func(object map[string]any) (injection.Change, error) {
			return injection.Eject(object, r.id)
		})
		if err != nil {
			return 0, err
		}
		if err := r.found.Workload.Unstick(ctx, ""); err != nil {
			return 0, err
		}
	}
	objects, err := workload.Objects(ctx, r.Client, r.id)
	if err != nil {
		return 0, err
	}
	return r.applier(r.id).Remove(ctx, objects)
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
