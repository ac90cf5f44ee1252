package follow

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/watchtest"
)

// machine is node1, as the API server knows it.
type machine struct {
	mu    sync.Mutex
	ready corev1.ConditionStatus
	err   error
	asked int
}

func (m *machine) Get(_ context.Context, name string, _ metav1.GetOptions) (*corev1.Node, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked++
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: "node"},
		Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{
			Type: corev1.NodeReady, Status: m.ready, Message: "Kubelet stopped posting node status.",
			LastTransitionTime: metav1.NewTime(watchtest.After(40 * time.Second)),
		}}},
	}, m.err
}

func (m *machine) becomes(ready corev1.ConditionStatus, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ready, m.err = ready, err
}

func (m *machine) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.asked
}

// onMachine follows a pod that has just been placed on a node of which nothing is heard.
func onMachine(t *testing.T, m *machine, test func(t *testing.T, fw *follow)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		fw := start(t, ctx)
		fw.f.ReadNodes(m)
		fw.hold(watchtest.NewPod("web", "1", watchtest.OnNode).Pod)
		fw.run(ctx)
		time.Sleep(time.Until(watchtest.After(cause.SilentAfter - time.Second)))
		synctest.Wait()
		if n := m.count(); n != 0 {
			t.Errorf("the node was read %d times while there was time", n)
		}
		test(t, fw)
		cancel()
		fw.f.Close()
		if err := <-fw.ended; err == nil {
			t.Error("Run ended without an error when its context did")
		}
	})
}

// hold makes the pod the one that there is, also for a watch that begins again.
func (fw *follow) hold(pod *corev1.Pod) {
	fw.pods.set(func(s *server) { s.held.Items = []corev1.Pod{*pod} })
	fw.pods.modify(pod)
}

func (fw *follow) code() string {
	if c := fw.last().Cause; c != nil {
		return c.Code
	}
	return ""
}

// A node is read when only it can say why a pod does not get on, again and again until
// the pod does, and not any more then.
func TestNodesAreReadWhileAPodWaitsOnThem(t *testing.T) {
	m := &machine{ready: corev1.ConditionUnknown}
	onMachine(t, m, func(t *testing.T, fw *follow) {
		time.Sleep(time.Second)
		if got := fw.code(); got != cause.NodeLost || m.count() != 1 {
			t.Errorf("the cause is %q, and the node was read %d times", got, m.count())
		}
		m.becomes(corev1.ConditionTrue, nil)
		time.Sleep(nodeEvery)
		if got := fw.code(); got != cause.KubeletSilent || m.count() != 2 {
			t.Errorf("it is back: the cause is %q, and the node was read %d times", got, m.count())
		}
		fw.hold(watchtest.NewPod("web", "1", watchtest.OnNode, watchtest.AppReady).Version(2).Pod)
		time.Sleep(time.Hour)
		if got := fw.last(); got.Stage != v1.StageRunning || got.Cause != nil || m.count() != 2 {
			t.Errorf("the pod runs: %s, %+v, and the node was read %d times", got.Stage, got.Cause, m.count())
		}
	})
}

// A caller who may not read nodes is told once, and sees the rest.
func TestNodesThatMayNotBeRead(t *testing.T) {
	m := &machine{err: apierrors.NewForbidden(schema.GroupResource{Resource: "nodes"}, "node1", errors.New("no"))}
	onMachine(t, m, func(t *testing.T, fw *follow) {
		time.Sleep(time.Hour)
		var notices []string
		for _, c := range fw.changes() {
			for _, n := range c.Notices {
				notices = append(notices, n.Message)
			}
		}
		const want = "how node node1 is cannot be seen without permission to get nodes"
		if got := strings.Join(notices, "\n"); got != want || fw.code() != cause.KubeletSilent || m.count() != 1 {
			t.Errorf("%q, want %q; the cause is %s, and the node was read %d times", got, want, fw.code(), m.count())
		}
	})
}

// What else goes wrong is tried again, and is no matter of the pod.
func TestNodesThatCannotBeReadNow(t *testing.T) {
	m := &machine{err: apierrors.NewTooManyRequestsError("busy")}
	onMachine(t, m, func(t *testing.T, fw *follow) {
		time.Sleep(time.Second)
		if got := fw.code(); got != cause.KubeletSilent {
			t.Errorf("the cause is %q", got)
		}
		m.becomes(corev1.ConditionUnknown, nil)
		time.Sleep(nodeEvery)
		if got := fw.code(); got != cause.NodeLost {
			t.Errorf("the cause is %q once it can be read", got)
		}
	})
}
