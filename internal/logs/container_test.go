package logs

import (
	"context"
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// The waiting ends also when the pod was removed before the watch is open, and when
// the API server refuses to say more.
func TestWaitForStart(t *testing.T) {
	resource := schema.GroupResource{Resource: "pods"}
	forbidden, expired := apierrors.NewForbidden(resource, "", errors.New(`User "eve" cannot watch`)),
		apierrors.NewResourceExpired("too old")
	running := pod(corev1.PodRunning,
		corev1.ContainerStatus{State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}})
	running.Namespace, running.ResourceVersion = "dev", "7"
	another := pod(corev1.PodRunning, running.Status.ContainerStatuses[0])
	another.Namespace, another.ResourceVersion, another.UID = "dev", "8", "2"
	for name, test := range map[string]struct {
		said    watch.EventType // by the watch, of a pod that runs
		refused error           // by the watch
		listed  []corev1.Pod
		denied  error // by the list
		code    fault.Code
	}{
		"it starts":                 {said: watch.Modified},
		"deleted":                   {said: watch.Deleted, code: fault.NotFound},
		"the watch is forbidden":    {refused: forbidden, code: fault.PermissionDenied},
		"the watch is unauthorized": {refused: apierrors.NewUnauthorized("no"), code: fault.Unauthenticated},
		"the list is forbidden":     {refused: expired, denied: forbidden, code: fault.PermissionDenied},
		"the list is unauthorized": {
			refused: expired, denied: apierrors.NewUnauthorized("no"),
			code: fault.Unauthenticated,
		},
		"removed before the watch": {refused: expired, code: fault.NotFound},
		"removed and made again before it": {
			refused: expired, listed: []corev1.Pod{*another},
			code: fault.NotFound,
		},
		"it had started when the list is read": {refused: expired, listed: []corev1.Pod{*running}},
	} {
		t.Run(name, func(t *testing.T) {
			client := fake.NewClientset()
			client.PrependWatchReactor("pods", func(action clienttesting.Action) (bool, watch.Interface, error) {
				// after a list
				if from := action.(clienttesting.WatchActionImpl).ListOptions.ResourceVersion; from != "5" {
					return true, watch.NewFake(), nil
				}
				w := watch.NewFakeWithChanSize(1, false)
				w.Action(test.said, running)
				return true, w, test.refused
			})
			client.PrependReactor("list", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
				list := &corev1.PodList{Items: test.listed}
				list.ResourceVersion = "9"
				return true, list, test.denied
			})
			asked := pod(corev1.PodPending, waiting("ContainerCreating"))
			asked.ResourceVersion, asked.Namespace = "5", "dev"
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			err := waitForStart(ctx, &kube.Client{Interface: client, Namespace: "dev"}, asked,
				Request{Container: "main"})
			if fault.CodeOf(err) != test.code || ctx.Err() != nil {
				t.Errorf("%v, want %q", err, test.code)
			}
		})
	}
}
