package reconcile

import (
	"context"
	"errors"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/pager"
)

// Result is how the one Reconcile of a key ended.
type Result[K comparable] struct {
	Key K
	Err error
}

// Once is one pass over all objects of the sources, each key once: what a terminal does instead of a loop. Ended is
// told of each key, from several goroutines; it may be nil. The error is that of a source that cannot be listed; what
// became of a key is in the results, which have the order of the objects.
func (l *Loop[K]) Once(ctx context.Context, ended func(Result[K])) ([]Result[K], error) {
	keys, err := l.list(ctx)
	if err != nil {
		return nil, err
	}
	results := make([]Result[K], len(keys))
	places := make(chan int)
	var workers sync.WaitGroup
	for range min(max(l.Workers, 1), len(keys)) {
		workers.Go(func() {
			for i := range places {
				err := context.Cause(ctx)
				if err == nil {
					err = l.toItsEnd(WithSlow(ctx), keys[i]) // which has time for it
				}
				results[i] = Result[K]{Key: keys[i], Err: settled(err)}
				if ended != nil {
					ended(results[i])
				}
			}
		})
	}
	for i := range keys {
		places <- i
	}
	close(places)
	workers.Wait()
	return results, nil
}

// toItsEnd works on a key, also when it has to wait for something.
func (l *Loop[K]) toItsEnd(ctx context.Context, key K) error {
	for {
		err := l.try(ctx, key)
		after, is := errors.AsType[afterError](err)
		if !is {
			return err
		}
		select {
		case <-after.done:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// settled is the error of a pass that is not repeated.
func settled(err error) error {
	if _, again := errors.AsType[againError](err); again {
		return nil
	}
	return err
}

// list reads the keys of all objects, page by page, in the order of the sources.
func (l *Loop[K]) list(ctx context.Context) (keys []K, err error) {
	seen := map[K]bool{}
	for _, s := range l.Sources {
		pages := pager.New(pager.SimplePageFunc(func(o metav1.ListOptions) (runtime.Object, error) {
			o.LabelSelector = s.Selector
			return s.Objects.List(ctx, o)
		}))
		err := pages.EachListItem(ctx, metav1.ListOptions{}, func(o runtime.Object) error {
			object, _ := o.(*unstructured.Unstructured)
			for _, key := range s.Keys(object) {
				if !seen[key] {
					seen[key] = true
					keys = append(keys, key)
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return keys, nil
}
