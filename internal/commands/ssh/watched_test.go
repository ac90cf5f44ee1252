package ssh

import (
	"errors"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/waittest"
)

// workspacePod is the pod of a workspace, which runs.
func workspacePod(change func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "alice-2bd806c", Namespace: "dev", UID: "1",
			Labels: map[string]string{kube.LabelCanonicalID: "alice-2bd806c"},
		},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "k8shell-main"}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{
			Name: "k8shell-main", Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
		}}},
	}
	if change != nil {
		change(p)
	}
	return p
}

// eventually waits until the workspace is known, or not.
func eventually(t *testing.T, is func() bool) {
	t.Helper()
	waittest.Until(t, "the watch has been read", is)
}

// Where a workspace is, is known as long as a watch says that its pod can be entered.
func TestWatched(t *testing.T) {
	client := fake.NewClientset()
	events := watch.NewFake()
	var asked atomic.Int32
	client.PrependWatchReactor("pods", func(clienttesting.Action) (bool, watch.Interface, error) {
		asked.Add(1)
		return true, events, nil
	})
	found := located{client: &kube.Client{Interface: client, Namespace: "dev"}, pod: workspacePod(nil), version: "7"}
	var w watched
	known := func() bool { _, known := w.get(); return known }
	if known() {
		t.Error("known before it was found")
	}
	w.follow(t.Context(), located{client: found.client, pod: found.pod}) // in a workload
	w.follow(t.Context(), found)
	w.follow(t.Context(), found)
	eventually(t, known)
	for name, change := range map[string]func(*corev1.Pod){
		"ended": func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed },
		"not running": func(p *corev1.Pod) {
			p.Status.ContainerStatuses[0].State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{}}
		},
	} {
		t.Log(name)
		events.Modify(workspacePod(change))
		eventually(t, func() bool { return !known() })
		events.Modify(workspacePod(nil))
		eventually(t, known)
	}
	events.Delete(workspacePod(nil))
	eventually(t, func() bool { return !known() })
	if asked.Load() != 1 {
		t.Errorf("%d watches", asked.Load())
	}
	for name, change := range map[string]func(*corev1.Pod){
		"another pod":     func(p *corev1.Pod) { p.UID = "2" },
		"somebody else's": func(p *corev1.Pod) { p.Labels = nil },
		"another user":    func(p *corev1.Pod) { p.Annotations = map[string]string{"user": "bob"} },
	} {
		events.Reset()
		eventually(t, func() bool { w.follow(t.Context(), found); return known() })
		t.Log(name)
		events.Modify(workspacePod(change))
		eventually(t, func() bool { return !known() })
	}
}

// A watch that is refused, or fails, leaves nothing that is taken for known.
func TestWatchedInVain(t *testing.T) {
	for name, c := range map[string]struct {
		event runtime.Object
		err   error
	}{
		"refused": {nil, errors.New("forbidden")}, "an error": {&metav1.Status{Code: 410}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			client := fake.NewClientset()
			client.PrependWatchReactor("pods", func(clienttesting.Action) (bool, watch.Interface, error) {
				events := watch.NewFakeWithChanSize(1, false)
				events.Error(c.event)
				return true, events, c.err
			})
			var w watched
			w.follow(t.Context(), located{
				client: &kube.Client{Interface: client, Namespace: "dev"}, pod: workspacePod(nil), version: "7",
			})
			eventually(t, func() bool { w.mu.Lock(); defer w.mu.Unlock(); return !w.going })
			if _, known := w.get(); known {
				t.Error("known")
			}
		})
	}
}
