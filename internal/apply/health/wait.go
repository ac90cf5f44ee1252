package health

import (
	"context"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/berthdev/berth/internal/apply/live"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// Reading is how far the cluster is with one object.
type Reading struct {
	Object  *unstructured.Unstructured // as the cluster has it; as it was given if it has none
	State   State
	Message string
}

// Describe names the object.
func (r Reading) Describe() string {
	name := kube.Object(r.Object.GetKind(), r.Object.GetName())
	if r.Object.GetNamespace() == "" {
		return name
	}
	return name + " in namespace " + r.Object.GetNamespace()
}

// reference is how an object is found, in any version.
type reference struct {
	schema.GroupKind
	namespace, name string
}

func referenceTo(o *unstructured.Unstructured) reference {
	return reference{o.GroupVersionKind().GroupKind(), o.GetNamespace(), o.GetName()}
}

// set is what is known of a set of objects.
type set struct {
	order    []reference
	given    map[reference]*unstructured.Unstructured // as they were applied
	readings map[reference]Reading
}

// Wait waits until every object of a set, with its namespace, is Current. The view has
// to watch their kinds already (apply.Applier.Watch). changed is called with each
// reading that is new, one after the other. It ends early with the first object that
// Failed, and returns those that are not Current, with an error that names them: FAILED,
// or DEADLINE_EXCEEDED after the time-out.
func Wait(ctx context.Context, view *live.View, objects []*unstructured.Unstructured, timeout time.Duration, changed func(Reading)) ([]Reading, error) {
	s := &set{readings: map[reference]Reading{}, given: map[reference]*unstructured.Unstructured{}}
	for _, object := range objects {
		s.order = append(s.order, referenceTo(object))
		s.readings[referenceTo(object)], s.given[referenceTo(object)] = Reading{Object: object}, object
	}
	timely, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	for {
		next := view.Changed()
		again := s.read(view, changed)
		rest := s.not(Current)
		if failed := s.not(Current, InProgress); len(rest) == 0 || len(failed) > 0 {
			return rest, problem(fault.New(fault.Failed, "%d objects have failed", len(failed)), failed)
		}
		var later <-chan time.Time
		if again {
			later = time.After(status.ScheduleWindow)
		}
		select {
		case <-next:
		case <-later:
		case <-timely.Done():
			if ctx.Err() != nil {
				return rest, ctx.Err()
			}
			return rest, problem(fault.New(fault.DeadlineExceeded, "timed out after %s: %d objects are not ready", timeout, len(rest)), rest)
		}
		if err := view.Err(); err != nil {
			return rest, err
		}
	}
}

// read reads the view anew. It has to be read again in a while if a pod waits for a node:
// kstatus takes that for a failure after some time.
func (s *set) read(view *live.View, changed func(Reading)) (again bool) {
	found := map[reference]*unstructured.Unstructured{}
	for _, object := range view.Objects() {
		found[referenceTo(object)] = object
	}
	for _, at := range s.order {
		before, object := s.readings[at], found[at]
		now := before
		switch {
		case object == nil:
			now.State, now.Message = InProgress, "it does not exist"
		case isOlder(object, s.given[at]):
			now.State, now.Message = InProgress, "it has just been applied"
		case object != before.Object || before.State == "" || at.Kind == "Pod":
			now.Object = object
			now.State, now.Message = StateOf(object)
		}
		again = again || at.Kind == "Pod" && now.State == InProgress
		s.readings[at] = now
		if now.State != before.State || now.Message != before.Message {
			changed(now)
		}
	}
	return again
}

// isOlder is true for an object of a view that does not know yet what was applied.
func isOlder(seen, applied *unstructured.Unstructured) bool {
	return applied.GetUID() != "" && seen.GetUID() != applied.GetUID() || seen.GetGeneration() < applied.GetGeneration()
}

// not are the readings with none of these states, in the order of the set.
func (s *set) not(states ...State) (rest []Reading) {
next:
	for _, at := range s.order {
		for _, state := range states {
			if s.readings[at].State == state {
				continue next
			}
		}
		rest = append(rest, s.readings[at])
	}
	return rest
}

// problem names what is not ready; nil if everything is.
func problem(err *fault.Error, readings []Reading) error {
	if len(readings) == 0 {
		return nil
	}
	for _, r := range readings {
		err.Problems = append(err.Problems, fault.Line(r.Describe()+": "+r.Message))
	}
	if len(readings) == 1 {
		err.Message, err.Problems = err.Message+": "+err.Problems[0], nil
	}
	return err.WithHint("see why: %s", readings[0].Command())
}

// Command is the command that says more of the object.
func (r Reading) Command() string {
	words := []string{"kubectl", "describe", kube.Object(r.Object.GetKind(), r.Object.GetName())}
	if namespace := r.Object.GetNamespace(); namespace != "" {
		words = append(words, "--namespace", namespace)
	}
	return fault.Command(words...)
}
