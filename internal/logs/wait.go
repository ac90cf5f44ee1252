package logs

import (
	"cmp"
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/watch"
	"github.com/berthdev/berth/internal/watch/follow"
)

// waitForStart waits until the container has started, or cannot any more. The
// watch goes on from the pod as it was read, so that nothing is missed.
func waitForStart(ctx context.Context, client *kube.Client, pod *corev1.Pod, r Request) error {
	subject := watch.Subject{Kind: watch.KindPod, Namespace: pod.Namespace, Name: pod.Name}
	source := follow.PodSource(follow.Client(client.CoreV1().Pods(pod.Namespace)), pod.Namespace, pod.Name)
	source.Listed, source.Version = []runtime.Object{pod}, pod.ResourceVersion
	f, err := follow.Open(ctx, subject, source)
	if err != nil {
		return err
	}
	defer f.Close()
	f.Expect(pod.UID)
	var failed error
	err = f.Until(ctx, func(s watch.State) (done bool) {
		now, gone := s.Pod()
		done, failed = reached(pod, now, gone, r)
		return done || failed != nil
	})
	return cmp.Or(failed, err)
}

// reached decides whether the waiting is over.
func reached(asked, now *corev1.Pod, gone bool, r Request) (bool, error) {
	switch {
	case now == nil && !gone: // not listed yet
		return false, nil
	case gone, over(now) && now.DeletionTimestamp != nil:
		return false, fault.New(fault.NotFound, "the pod of workspace %s is gone", asked.Name)
	case started(statusOf(now, r.Container)):
		return true, nil
	case over(now):
		return false, readable(now, r)
	}
	return false, nil
}
