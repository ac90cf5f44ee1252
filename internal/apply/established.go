package apply

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/berthdev/berth/internal/apply/health"
	"github.com/berthdev/berth/internal/apply/live"
	"github.com/berthdev/berth/internal/fault"
)

// establishedTime is how long a custom resource definition is waited for.
const establishedTime = 30 * time.Second

// established waits, before a wave of custom resources, until the definitions of the set
// can be used.
func (r *run) established(ctx context.Context, wave []*item) error {
	if _, custom := r.defined[wave[0].Object.GroupVersionKind()]; !custom || r.DryRun != DryRunNone {
		return nil
	}
	view := r.Live
	if view == nil {
		view = live.New(r.Client, labels.Set(r.Owner.Labels).String())
		defer view.Close()
	}
	var definitions []*item
	var targets []target
	for _, it := range r.items {
		if isKind(it.Object, kindDefinition) {
			definitions, targets = append(definitions, it), append(targets, it.target)
		}
	}
	if err := view.Watch(ctx, scopes(targets)...); err != nil {
		return err
	}
	timely, cancel := context.WithTimeout(ctx, establishedTime)
	defer cancel()
	for {
		changed := view.Changed()
		missing, err := notEstablished(view, definitions)
		if missing == nil || err != nil {
			return err
		}
		select {
		case <-changed:
			if err := view.Err(); err != nil {
				return err
			}
		case <-timely.Done():
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return missing
		}
	}
}

// notEstablished is the error of the first definition that cannot be used; err is that
// of one that will not get there.
func notEstablished(view *live.View, definitions []*item) (missing, err error) {
	for _, it := range definitions {
		current, _ := view.Get(it.Resource, it.namespace, it.name)
		state, message := health.InProgress, "it is not there"
		if current != nil {
			it.change.Object = current
			state, message = health.StateOf(current)
		}
		if state == health.Current {
			continue
		}
		problem := fault.New(fault.Failed, "%s is not established: %s", it.describe(), message).
			WithHint("see why: %s", it.kubectlGet())
		if state == health.Failed {
			return problem, problem
		}
		if missing == nil {
			missing = problem
		}
	}
	return missing, nil
}
