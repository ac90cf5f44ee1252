package apply

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/kube"
)

// Fence is the lock that a run works under. A process that was suspended for longer
// than its lock lasts wakes up in the middle of its work, where another one has gone
// on: what that has written carries its mark, and is left alone.
type Fence interface {
	// Mark is the annotation that says under which lock an object was written last;
	// the value is empty for none.
	Mark() (name, value string)
	// Check returns an error if what carries these annotations was written under a
	// newer lock.
	Check(ctx context.Context, annotations map[string]string) error
	// Confirm returns an error if the lock is lost. It asks the API server only
	// after a pause.
	Confirm(ctx context.Context) error
}

// confirm makes sure, before a write, that the lock is still held.
func (a Applier) confirm(ctx context.Context) error {
	if a.Fence == nil {
		return nil
	}
	return a.Fence.Confirm(ctx)
}

// check makes sure that an object, as it was read, is not a newer run's.
func (a Applier) check(ctx context.Context, current *unstructured.Unstructured) error {
	if a.Fence == nil {
		return nil
	}
	return a.Fence.Check(ctx, current.GetAnnotations())
}

// fenced marks an object.
func (a Applier) fenced(object *unstructured.Unstructured) *unstructured.Unstructured {
	if a.Fence == nil {
		return object
	}
	if name, value := a.Fence.Mark(); value != "" {
		kube.Annotate(object, name, value)
	}
	return object
}
