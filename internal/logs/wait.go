package logs

import (
	"cmp"
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "github.com/berthdev/berth/api/v1"
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
		if done, failed = reached(pod, now, gone, r); !done && failed == nil {
			failed = failure(s, r)
		}
		return done || failed != nil
	})
	return cmp.Or(failed, err)
}

// failure is why the container will not start, if the workspace has failed.
func failure(s watch.State, r Request) error {
	reading, _ := watch.Analyze(s, r.Policy, time.Now())
	now, _ := s.Pod()
	if reading.Verdict() != v1.VerdictFailed || reading.Cause == nil || now == nil {
		return nil
	}
	return fault.New(fault.Failed, "container %s of workspace %s does not start: %s", r.Container, now.Name,
		reading.Cause.Message).
		WithHint("see what to do: %s", kube.Command("status", kube.IDOf(&now.ObjectMeta), now.Namespace))
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
