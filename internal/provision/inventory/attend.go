package inventory

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// Attendant is told of workspaces as they change.
type Attendant interface {
	// Changed gets, at first, all workspaces that fit the query; after that each
	// that is new, has changed, is gone (and says so) or fits no more.
	Changed([]v1.Workspace)
	// Interrupted says that the cluster is not heard any more for a while.
	Interrupted(error)
}

// Attend keeps an attendant up to date about the workspaces that fit a query,
// until ctx ends or the API server refuses to go on. Every change of a pod is
// read by itself, so that no stage is lost to one who is slow. It costs one
// watch of the pods and one of the events, whatever the number of workspaces.
func (r Reader) Attend(ctx context.Context, q Query, to Attendant) error {
	opts, err := q.options()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	a := newAttendance(r, q)
	synced, err := r.listen(ctx, a, r.streams(q, opts.LabelSelector), func(call kube.Call, err error) {
		switch final := refused(err, call); {
		case final != nil:
			cancel(final)
		case !a.isOpen():
			cancel(kube.Fault(err, call))
		default:
			to.Interrupted(kube.Fault(err, call))
		}
	})
	if err != nil {
		return err
	}
	if !cache.WaitFor(ctx, "", synced...) {
		return context.Cause(ctx)
	}
	to.Changed(a.open(r.Now()))
	for {
		alarm := time.NewTimer(a.patience(r.Now()))
		select {
		case <-ctx.Done():
			alarm.Stop()
			return context.Cause(ctx)
		case <-a.changed:
		case <-alarm.C:
		}
		alarm.Stop()
		if changed := a.take(r.Now()); len(changed) > 0 {
			to.Changed(changed)
		}
	}
}

// stream is one kind of object that is listened to.
type stream struct {
	resource string
	object   runtime.Object
	lister   cache.ListerWatcher
}

// streams are the pods that fit, and the events about pods. Of one workspace
// there are the claims too, and the events about them.
func (r Reader) streams(q Query, selector string) []stream {
	core := r.Client.CoreV1()
	kinds := fields.OneTermEqualSelector("involvedObject.kind", "Pod").String()
	if q.ID != "" {
		kinds = ""
	}
	all := []stream{
		{"pods", &corev1.Pod{}, listWatch(core.Pods(q.Namespace), metav1.ListOptions{LabelSelector: selector})},
		{"events", &corev1.Event{}, listWatch(core.Events(q.Namespace), metav1.ListOptions{FieldSelector: kinds})},
	}
	if q.ID != "" {
		all = append(all, stream{
			"persistentvolumeclaims", &corev1.PersistentVolumeClaim{},
			listWatch(core.PersistentVolumeClaims(q.Namespace), metav1.ListOptions{}),
		})
	}
	return all
}

// lists is what client-go's typed clients have.
type lists[L runtime.Object] interface {
	List(context.Context, metav1.ListOptions) (L, error)
	Watch(context.Context, metav1.ListOptions) (watch.Interface, error)
}

func listWatch[L runtime.Object](client lists[L], which metav1.ListOptions) cache.ListerWatcher {
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			opts.LabelSelector, opts.FieldSelector = which.LabelSelector, which.FieldSelector
			return client.List(ctx, opts)
		},
		WatchFuncWithContext: func(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
			opts.LabelSelector, opts.FieldSelector = which.LabelSelector, which.FieldSelector
			return client.Watch(ctx, opts)
		},
	}
}

// listen opens the streams; the checkers say when what there was at first has
// been passed on.
func (r Reader) listen(ctx context.Context, a *attendance, streams []stream, trouble func(kube.Call, error)) ([]cache.DoneChecker, error) {
	var synced []cache.DoneChecker
	for _, s := range streams {
		informer := cache.NewSharedIndexInformer(s.lister, s.object, 0, cache.Indexers{})
		_ = informer.SetTransform(slim) // fails only once it runs
		_ = informer.SetWatchErrorHandlerWithContext(func(_ context.Context, _ *cache.Reflector, err error) {
			if ended := ctx.Err() != nil || apierrors.IsResourceExpired(err) || isEnd(err); !ended {
				trouble(kube.Call{Verb: "list", Resource: s.resource, Namespace: a.query.Namespace}, err)
			}
		})
		registered, err := informer.AddEventHandler(a.handler(r.Now))
		if err != nil {
			return nil, fault.New(fault.Internal, "cannot watch %s: %w", s.resource, err)
		}
		synced = append(synced, registered.HasSyncedChecker())
		go informer.RunWithContext(ctx)
	}
	return synced, nil
}

// slim leaves out what nobody reads here.
func slim(object any) (any, error) {
	if o, ok := object.(metav1.Object); ok {
		o.SetManagedFields(nil)
	}
	return object, nil
}

// refused is the fault of an answer that will be the same next time.
func refused(err error, call kube.Call) error {
	if apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) || apierrors.IsNotFound(err) || apierrors.IsBadRequest(err) {
		return kube.Fault(err, call)
	}
	return nil
}
