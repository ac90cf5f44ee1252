package watch

import (
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/watchtest"
)

// nodeThat is node1, whose condition Ready has changed after a while.
func nodeThat(is corev1.ConditionStatus, message string, after time.Duration) *corev1.Node {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node1", UID: "node1"}}
	node.Status.Conditions = []corev1.NodeCondition{{
		Type: corev1.NodeReady, Status: is, Message: message,
		LastTransitionTime: metav1.NewTime(watchtest.After(after)),
	}}
	return node
}

// What a pod waits for on its node is said with the node's name and since when, as far as
// the node, the pod or the events tell.
func TestNodes(t *testing.T) {
	creating := watchtest.NewPod("web", "1", watchtest.OnNode)
	taken := watchtest.NewPod("web", "1", watchtest.OnNode, watchtest.App(watchtest.Waits("ContainerCreating", "")))
	sandboxed := watchtest.NewPod("web", "1", watchtest.OnNode, watchtest.App(watchtest.Waits("ContainerCreating", "")),
		func(pod *corev1.Pod) { pod.Status.PodIP = "10.0.0.7" })
	wasReady := watchtest.NewPod("web", "1", watchtest.OnNode, watchtest.AppReady, func(pod *corev1.Pod) {
		for i := range pod.Status.Conditions {
			if c := &pod.Status.Conditions[i]; c.Type == corev1.PodReady {
				c.Status, c.LastTransitionTime = corev1.ConditionFalse, metav1.NewTime(watchtest.After(20*time.Minute))
			}
		}
	})
	lost := watchtest.NewPod("web", "1", watchtest.OnNode, watchtest.AppReady, func(pod *corev1.Pod) {
		pod.Status.Phase, pod.Status.Reason, pod.Status.Message = corev1.PodUnknown, "NodeLost",
			"Node node1 which was running pod web is unresponsive"
		pod.Status.Conditions = nil
	})
	placed := watchtest.NewPod("web", "1", watchtest.OnNode, func(pod *corev1.Pod) { pod.Status.Conditions = nil })
	ending := watchtest.NewPod("web", "1", watchtest.OnNode, watchtest.AppReady, watchtest.Deleting)
	ended := watchtest.NewPod("web", "1", watchtest.OnNode, watchtest.App(watchtest.Exits(0, "Completed", time.Second)),
		watchtest.Deleting)
	held := watchtest.NewPod("web", "1", watchtest.OnNode, watchtest.App(watchtest.Exits(0, "Completed", time.Second)),
		watchtest.Deleting, func(pod *corev1.Pod) { pod.Finalizers = []string{"example.com/backup"} })
	silent := nodeThat(corev1.ConditionUnknown, "Kubelet stopped posting node status.", 10*time.Minute)
	fine := nodeThat(corev1.ConditionTrue, "kubelet is posting ready status", 0)
	renewed := metav1.NewMicroTime(watchtest.After(9 * time.Minute))
	leaseOf := func(node string) *coordinationv1.Lease {
		return &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{
			Name: node, Namespace: corev1.NamespaceNodeLease,
			UID: "lease",
		}, Spec: coordinationv1.LeaseSpec{RenewTime: &renewed}}
	}
	lease := leaseOf("node1")
	another := silent.DeepCopy()
	another.Name, another.UID = "node2", "node2"
	notReady := warning("", "NodeNotReady", "Node is not ready")
	for name, test := range map[string]struct {
		objects []runtime.Object
		now     time.Duration
		cause   string // empty for none
	}{
		"the node is lost": {
			[]runtime.Object{creating.Pod, silent},
			30 * time.Minute,
			"NodeLost: node node1 has not been heard from since 2026-05-04 10:10:00 UTC: Kubelet stopped posting",
		},
		"since its lease was renewed": {
			[]runtime.Object{creating.Pod, silent, lease},
			30 * time.Minute,
			"NodeLost: node node1 has not been heard from since 2026-05-04 10:09:00 UTC",
		},
		"another node's lease was renewed": {
			[]runtime.Object{creating.Pod, silent, leaseOf("node2")},
			30 * time.Minute, "NodeLost: node node1 has not been heard from since 2026-05-04 10:10:00 UTC: " +
				"Kubelet stopped posting",
		},
		"another node is lost": {[]runtime.Object{creating.Pod, another}, 30 * time.Second, ""},
		"the node is not ready": {[]runtime.Object{
			creating.Pod,
			nodeThat(corev1.ConditionFalse, "PLEG is not healthy",
				0),
		}, 30 * time.Minute, "NodeNotReady: node node1 has not been ready since 2026-05-04 10:00:00 UTC: PLEG"},
		"the node has no network plugin": {[]runtime.Object{
			creating.Pod,
			nodeThat(corev1.ConditionFalse,
				"container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:cni "+
					"plugin not initialized", 0),
		}, 30 * time.Minute, "NetworkNotReady: node node1 has had no network since"},
		"the kubelet says so": {[]runtime.Object{
			taken.Pod,
			warning("", "NetworkNotReady",
				"network is not ready: cni plugin not initialized"),
		}, time.Minute, "NetworkNotReady: node node1 has had no network since 2026-05-04 10:00:00 UTC: " +
			"network is not ready"},
		"the pod was lost": {
			[]runtime.Object{lost.Pod},
			30 * time.Minute,
			"NodeLost: node node1 has not been heard from: Node node1 which was running",
		},
		"others have said so": {
			[]runtime.Object{wasReady.Pod, notReady},
			30 * time.Minute,
			"NodeNotReady: node node1 has not been ready since 2026-05-04 10:20:00 UTC",
		},
		"but the node is ready again": {[]runtime.Object{wasReady.Pod, notReady, fine}, 30 * time.Minute, ""},
		"the kubelet is silent": {
			[]runtime.Object{creating.Pod},
			time.Minute,
			"KubeletSilent: node node1 has said nothing about the pod since 2026-05-04 10:00:00 UTC",
		},
		"no scheduler has placed it": {
			[]runtime.Object{placed.Pod},
			time.Minute,
			"KubeletSilent: node node1 has said nothing about the pod since 2026-05-04 10:00:00 UTC",
		},
		"not for long": {[]runtime.Object{creating.Pod}, 59 * time.Second, ""},
		"it has taken the pod": {
			[]runtime.Object{taken.Pod, about("", "Scheduled", "")},
			4 * time.Minute, "KubeletSilent: node node1 has taken the pod, and has said nothing about it",
		},
		"which may take a while": {
			[]runtime.Object{taken.Pod, about("", "Scheduled", "")},
			3 * time.Minute, "",
		},
		"what was said about the pod is not known": {[]runtime.Object{taken.Pod}, time.Hour, ""},
		"it has said something": {[]runtime.Object{
			taken.Pod, about("", "Scheduled", ""),
			about("app", "Pulled", ""),
		}, time.Hour, ""},
		"it has made the sandbox": {
			[]runtime.Object{sandboxed.Pod, about("", "Scheduled", "")},
			time.Hour,
			"",
		},
		"the pod does not end": {
			[]runtime.Object{ending.Pod},
			2 * time.Minute,
			"TerminationOverdue: node node1 has not ended the pod, whose time was up at 2026-05-04 10:00:40 UTC",
		},
		"nor for long": {[]runtime.Object{ending.Pod}, time.Minute, ""},
		"because its node is lost": {
			[]runtime.Object{ending.Pod, silent},
			time.Hour,
			"NodeLost: node node1 has not been heard from",
		},
		"its containers have ended": {
			[]runtime.Object{ended.Pod},
			time.Hour,
			"TerminationOverdue: node node1 has ended the pod's containers, but not removed it",
		},
		"a finalizer holds it": {
			[]runtime.Object{held.Pod},
			time.Hour,
			"FinalizerHolds: the pod has ended, and is held by finalizer example.com/backup",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := NewState(web)
			for i, o := range test.objects {
				if e, ok := o.(*corev1.Event); ok {
					e.UID = types.UID(rune('a' + i))
				}
				s = s.Apply(watch.Added, o)
			}
			got, _ := Analyze(s, cause.DefaultPolicy(), watchtest.After(test.now))
			text := ""
			if got.Cause != nil {
				text = got.Cause.Code + ": " + got.Cause.Message
			}
			if !strings.HasPrefix(text, test.cause) || test.cause == "" && text != "" {
				t.Errorf("%q, want %q", text, test.cause)
			}
			if got.Stage == v1.StageFailed {
				t.Error("it is no failure")
			}
		})
	}
}

// Of all nodes and their Leases, those belong to a subject that its pods are on.
func TestRelatedNodes(t *testing.T) {
	lease := func(namespace, name string) *coordinationv1.Lease {
		return &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: namespace,
			UID: types.UID(namespace + name),
		}}
	}
	other := nodeThat(corev1.ConditionTrue, "", 0)
	other.Name, other.UID = "node2", "node2"
	var history []Record
	for _, o := range []runtime.Object{
		nodeThat(corev1.ConditionTrue, "", 0), other,
		lease(corev1.NamespaceNodeLease, "node1"), lease("kube-system", "node1"),
		watchtest.NewPod("web", "1", watchtest.OnNode).Pod,
	} {
		history = append(history, Record{Type: watch.Added, Object: o})
	}
	if left := Related(web, history); len(left) != 3 {
		t.Errorf("%d are left, want the pod, its node and the node's Lease", len(left))
	}
}
