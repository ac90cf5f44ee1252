package logs

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	toolswatch "k8s.io/client-go/tools/watch"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// waitForStart waits until the container has started, or cannot any more. An
// informer would repeat a request that is not allowed.
func waitForStart(ctx context.Context, client *kube.Client, pod *corev1.Pod, r Request) error {
	waiting, refuse := context.WithCancelCause(ctx)
	defer refuse(nil)
	pods := client.CoreV1().Pods(client.Namespace)
	only := fields.OneTermEqualSelector("metadata.name", pod.Name).String()
	source := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			o.FieldSelector = only
			return pods.List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			o.FieldSelector = only
			w, err := pods.Watch(ctx, o)
			if apierrors.IsForbidden(err) {
				refuse(err)
			}
			return w, err
		},
	}
	gone := func(store cache.Store) (bool, error) {
		if len(store.List()) == 0 {
			return false, podGone(pod)
		}
		return false, nil
	}
	_, err := toolswatch.UntilWithSync(waiting, source, &corev1.Pod{}, gone, func(e watch.Event) (bool, error) {
		now, ok := e.Object.(*corev1.Pod)
		if !ok {
			return false, nil
		}
		return reached(pod, now, e.Type == watch.Deleted, r)
	})
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil && waiting.Err() != nil {
		err = context.Cause(waiting)
	}
	return kube.Fault(err, kube.Call{Verb: "watch", Resource: "pods", Namespace: client.Namespace, Name: pod.Name})
}

// reached decides whether the waiting is over.
func reached(asked, now *corev1.Pod, deleted bool, r Request) (bool, error) {
	switch {
	case deleted, now.UID != asked.UID, over(now) && now.DeletionTimestamp != nil:
		return false, podGone(asked)
	case started(statusOf(now, r.Container)):
		return true, nil
	case over(now):
		return false, Readable(now, r)
	}
	return false, nil
}

func podGone(pod *corev1.Pod) error {
	return fault.New(fault.NotFound, "the pod of workspace %s is gone", pod.Name)
}
