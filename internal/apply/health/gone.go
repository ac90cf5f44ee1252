package health

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berthdev/berth/internal/apply/live"
)

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
	for {
		next := view.Changed()
		var rest []Reading
		for _, object := range view.Objects() {
			if wanted[object.GetUID()] {
				rest = append(rest, Reading{Object: object, State: InProgress, Message: holding(object)})
			}
		}
		if len(rest) < told {
			told = len(rest)
			changed(rest)
		}
		if len(rest) == 0 {
			return nil, nil
		}
		select {
		case <-next:
		case <-ctx.Done():
			return rest, context.Cause(ctx)
		}
		if err := view.Err(); err != nil {
			return rest, err
		}
	}
}

// holding is what an object that is being deleted waits for.
func holding(object *unstructured.Unstructured) string {
	if finalizers := object.GetFinalizers(); len(finalizers) > 0 {
		return "it is held by " + strings.Join(finalizers, ", ")
	}
	return "it is being deleted"
}
