package injected

import (
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiwatch "k8s.io/apimachinery/pkg/watch"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/userstring"
	"github.com/berthdev/berth/internal/watch"
)

// stateOf is a Deployment with these pods.
func stateOf(annotations map[string]string, pods ...*corev1.Pod) watch.State {
	s := watch.NewState(watch.Subject{Kind: watch.KindDeployment, Namespace: "dev", Name: "web"})
	s = s.Apply(apiwatch.Added, &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{
		Name: "web", Namespace: "dev", UID: "d",
		Annotations: annotations,
	}})
	for _, pod := range pods {
		s = s.Apply(apiwatch.Added, pod)
	}
	return s
}

func podOf(name string, deleting bool) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "dev", UID: "p"}}
	if deleting {
		pod.DeletionTimestamp = new(metav1.Now())
	}
	return pod
}

// A rollout that does not go on ends the waiting, a slow one does not.
func TestBlocks(t *testing.T) {
	failed := v1.Snapshot{Stage: v1.StageFailed, Cause: &v1.Cause{Message: "no image"}}
	waits := v1.Snapshot{Stage: v1.StageScheduling, Cause: &v1.Cause{Message: "no node"}}
	perhaps := v1.Snapshot{Stage: v1.StageScheduling, Cause: &v1.Cause{Message: "no node", Tentative: true}}
	for _, test := range []struct {
		name     string
		reading  v1.Snapshot
		calm     time.Duration
		deleting bool
		want     bool
	}{
		{"it starts", v1.Snapshot{Stage: v1.StageStarting}, time.Hour, false, false},
		{"it has failed", failed, failedTime, false, true},
		{"it has failed a moment ago", failed, time.Second, false, false},
		{"it has failed, and the pod goes", failed, time.Hour, true, false},
		{"it waits", waits, blockedTime, false, true},
		{"it waits for a moment", waits, blockedTime - time.Second, false, false},
		{"it may wait", perhaps, time.Hour, false, false},
	} {
		if got := blocks(stateOf(nil, podOf("web-1", test.deleting)), test.reading, test.calm); got != test.want {
			t.Errorf("%s: %t", test.name, got)
		}
	}
}

// What is left names the workload, the pods and what blocks them, and the command that
// it proposes has the namespace.
func TestLeft(t *testing.T) {
	target := Target{
		ID: id, Ref: userstring.Workload{Kind: "deployment", Name: "web"},
		Reader: inventory.Reader{Client: &kube.Client{Namespace: "dev"}},
	}
	left := target.left(stateOf(nil, podOf("web-1", false)),
		v1.Snapshot{Cause: &v1.Cause{Message: "exceeded quota: q"}})
	if want := "workspace " + id +
		" is out of the template of deployment/web, but 1 pod still has it, for the rollout is blocked: " +
		"exceeded quota: q"; left.What != want {
		t.Errorf("%q, want %q", left.What, want)
	}
	if !strings.Contains(left.Hint, "kubectl rollout status deployment/web --namespace dev") || left.Gone {
		t.Errorf("%+v", left)
	}
}

// A run that waits for the end of a workspace hears that another one has injected it again.
func TestInjectedAgain(t *testing.T) {
	target := Target{ID: id, Ref: userstring.Workload{Kind: "deployment", Name: "web"}}
	for record, again := range map[string]bool{
		"": false, `{"canonicalId":"` + id + `"}`: true,
		`{"canonicalId":"bob-2"}`: false, "{": false,
	} {
		annotations := map[string]string{}
		if record != "" {
			annotations[kube.AnnotationInjection] = record
		}
		if err := target.injectedAgain(stateOf(annotations)); (fault.CodeOf(err) == fault.Conflict) != again {
			t.Errorf("%q: %v", record, err)
		}
		if err := target.Still(stateOf(annotations)); (err == nil) != again {
			t.Errorf("%q: a provisioning goes on with %v", record, err)
		}
	}
}

// What still has a workspace that is taken out is listed by name.
func TestLeaving(t *testing.T) {
	now := time.Unix(0, 0)
	for _, test := range []struct {
		pods  []*corev1.Pod
		says  string
		names string
	}{
		{nil, "taken out", ""},
		{[]*corev1.Pod{podOf("web-1", true)}, "1 pod still has alice-1", "web-1"},
		{
			[]*corev1.Pod{podOf("web-3", true), podOf("web-1", false), podOf("web-2", true)},
			"3 pods still have alice-1",
			"web-1 web-2 web-3",
		},
	} {
		got := leaving(id, test.pods, now)
		var names []string
		for _, r := range got.Replicas {
			names = append(names, r.Name)
		}
		if got.Message != test.says || strings.Join(names, " ") != test.names || got.Gone != (len(test.pods) == 0) {
			t.Errorf("%+v, want %s", got, test.says)
		}
	}
}

// A pod that may never become ready is one that waits for something, or has been started again.
func TestBroken(t *testing.T) {
	with := func(change func(pod *corev1.Pod, c *corev1.ContainerStatus)) *corev1.Pod {
		pod := podOf("web-1", false)
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "app"}, {Name: "main"}}
		change(pod, &pod.Status.ContainerStatuses[1])
		return pod
	}
	waits := func(_ *corev1.Pod, c *corev1.ContainerStatus) { c.State.Waiting = &corev1.ContainerStateWaiting{} }
	for name, test := range map[string]struct {
		change func(pod *corev1.Pod, c *corev1.ContainerStatus)
		want   bool
	}{
		"it starts":            {func(*corev1.Pod, *corev1.ContainerStatus) {}, false},
		"one waits":            {waits, true},
		"one is started again": {func(_ *corev1.Pod, c *corev1.ContainerStatus) { c.RestartCount = 1 }, true},
		"it is being deleted": {func(pod *corev1.Pod, c *corev1.ContainerStatus) {
			waits(pod, c)
			pod.DeletionTimestamp = new(metav1.Now())
		}, false},
		"it is ready": {func(pod *corev1.Pod, c *corev1.ContainerStatus) {
			c.RestartCount = 1
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		}, false},
	} {
		if got := broken(with(test.change)); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
