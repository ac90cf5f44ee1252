package health

import (
	"context"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/apply/live"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// Reading is how far the cluster is with one object.
type Reading struct {
	Object  *unstructured.Unstructured // as the cluster has it; as it was given if it has none
	State   State
	Message string
	// Cause is what keeps it from being Current, where an Inspector knows that.
	Cause *v1.Cause
	// MayPass is true for a failure that another object of the set may end.
	MayPass bool
}

// Inspector looks behind objects that are not Current, such as at the pods of a Deployment.
type Inspector interface {
	// Open begins to look behind the objects that are not Current, of all that are waited for.
	Open(ctx context.Context, readings []Reading)
	// Inspect makes a reading more exact, and says when time alone may change it; zero if it will not.
	Inspect(r Reading) (Reading, time.Time)
	// Changed is closed with the next change of what it knows.
	Changed() <-chan struct{}
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

// inspectAfter is how long objects may take to be Current before it is looked behind them:
// most of what starts at once does within that, and costs no request more.
const inspectAfter = time.Second

// Wait waits until every object of a set, with its namespace, is Current. The view has to watch their kinds already
// (apply.Applier.Watch). The inspector may be nil. changed is called with each reading that is new, one after the
// other. It ends early with the first object that Failed, unless another one may end that, and returns those that are
// not Current, with an error that names them: FAILED, or DEADLINE_EXCEEDED after the time-out.
func Wait(
	ctx context.Context, view *live.View, objects []*unstructured.Unstructured, timeout time.Duration, behind Inspector,
	changed func(Reading),
) ([]Reading, error) {
	s := newSet(objects, behind)
	timely, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	inspect := time.Now().Add(inspectAfter)
	for {
		next, deeper := view.Changed(), s.deeper()
		again := s.read(view, changed)
		rest, now := s.not(Current), time.Now()
		failed := s.not(Current, InProgress)
		until := s.failed(failed, now)
		if len(rest) == 0 || len(failed) > 0 && !now.Before(until) {
			return rest, problem(fault.New(fault.Failed, "%s failed", have(len(failed))), failed)
		}
		if behind != nil && !now.Before(inspect) {
			behind.Open(ctx, s.not())
		} else if behind != nil {
			again = earlier(again, inspect)
		}
		later := time.NewTimer(time.Until(earlier(earlier(again, until), now.Add(longest))))
		select {
		case <-next:
		case <-deeper:
		case <-later.C:
		case <-timely.Done():
			later.Stop()
			if ctx.Err() != nil {
				return rest, ctx.Err()
			}
			return rest, problem(fault.New(fault.DeadlineExceeded, "timed out after %s: %d objects are not ready",
				timeout, len(rest)), rest)
		}
		later.Stop()
		if err := view.Err(); err != nil {
			return rest, err
		}
	}
}

// longest is after what time objects are read again that have not changed.
const longest = time.Hour

// earlier is the first of two times, of which zero is never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

func have(n int) string {
	if n == 1 {
		return "1 object has"
	}
	return fmt.Sprintf("%d objects have", n)
}

// isOlder is true for an object of a view that does not know yet what was applied.
func isOlder(seen, applied *unstructured.Unstructured) bool {
	return applied.GetUID() != "" && seen.GetUID() != applied.GetUID() || seen.GetGeneration() < applied.GetGeneration()
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
	return err.WithHint("%s", readings[0].Hint())
}

// Hint is what to do about the object, or where one sees more of it.
func (r Reading) Hint() string {
	if r.Cause != nil && r.Cause.Hint != "" {
		return r.Cause.Hint
	}
	return "see why: " + r.Command()
}

// Command is the command that says more of the object.
func (r Reading) Command() string {
	words := []string{"kubectl", "describe", kube.Object(r.Object.GetKind(), r.Object.GetName())}
	if namespace := r.Object.GetNamespace(); namespace != "" {
		words = append(words, "--namespace", namespace)
	}
	return fault.Command(words...)
}

// WaitGone waits until none of these very objects is there any more. The view has to
// watch their kinds already (apply.Applier.Watch). changed is called with what is still
// there, first of all with all of it. It returns that with the error of ctx, too.
func WaitGone(ctx context.Context, view *live.View, objects []*unstructured.Unstructured,
	changed func(rest []Reading),
) ([]Reading, error) {
	wanted := map[types.UID]bool{}
	for _, object := range objects {
		wanted[object.GetUID()] = true
	}
	told := len(objects) + 1
	var rest []Reading
	err := view.Until(ctx, func() (bool, error) {
		rest = nil
		for _, object := range view.Objects() {
			if wanted[object.GetUID()] {
				rest = append(rest, Reading{Object: object, State: InProgress, Message: holding(object)})
			}
		}
		if len(rest) < told {
			told = len(rest)
			changed(rest)
		}
		return len(rest) == 0, nil
	})
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return rest, err
}

// holding is what an object that is being deleted waits for.
func holding(object *unstructured.Unstructured) string {
	if finalizers := object.GetFinalizers(); len(finalizers) > 0 {
		return "it is held by " + strings.Join(finalizers, ", ")
	}
	return "it is being deleted"
}
