package follow

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiwatch "k8s.io/apimachinery/pkg/watch"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/watch"
	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/watchtest"
)

// A workload that has just been written is not what it was before, even if older
// events of it are still unread.
func TestBegin(t *testing.T) {
	subject := watch.Subject{Kind: watch.KindDeployment, Namespace: "dev", Name: "web"}
	f, err := Open(t.Context(), subject)
	if err != nil {
		t.Fatal(err)
	}
	f.change(func(s watch.State) watch.State {
		return s.Apply(apiwatch.Added, watchtest.Deployment(1, 1, watchtest.Available))
	})
	f.Begin(watchtest.Deployment(2, 1, watchtest.Available, func(d *appsv1.Deployment) { d.ResourceVersion = "2" }))
	f.change(func(s watch.State) watch.State {
		return s.Apply(apiwatch.Modified, watchtest.Deployment(1, 1, watchtest.Available))
	}) // late
	err = f.Run(t.Context(), cause.DefaultPolicy(), func() time.Time { return watchtest.Epoch }, func(c Change) bool {
		if c.Snapshot.Stage == v1.StageRunning {
			t.Error("it runs as it did before")
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Until looks at what there is, and then at each change.
func TestUntil(t *testing.T) {
	f, err := Open(t.Context(), watch.Subject{Kind: watch.KindDeployment, Namespace: "dev", Name: "web"})
	if err != nil {
		t.Fatal(err)
	}
	go f.change(func(s watch.State) watch.State { return s.Apply(apiwatch.Added, watchtest.Owned("a").Pod) })
	if err := f.Until(t.Context(), func(s watch.State) bool { return len(s.Pods()) == 1 }); err != nil {
		t.Fatal(err)
	}
}

// Pods below a partition are not waited for.
func TestPartition(t *testing.T) {
	wanted, partition := int32(3), int32(2)
	set := &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "dev", UID: "web", ResourceVersion: "1"},
		Spec: appsv1.StatefulSetSpec{Replicas: &wanted, UpdateStrategy: appsv1.StatefulSetUpdateStrategy{
			RollingUpdate: &appsv1.RollingUpdateStatefulSetStrategy{Partition: &partition},
		}},
		Status: appsv1.StatefulSetStatus{
			UpdatedReplicas: 1, AvailableReplicas: 3, ReadyReplicas: 3,
			UpdateRevision: "b",
		},
	}
	pod := watchtest.NewPod("web-2", "pod", watchtest.OnNode, watchtest.AppReady, func(p *corev1.Pod) {
		p.Labels = map[string]string{appsv1.ControllerRevisionHashLabelKey: "b"}
		p.OwnerReferences = watchtest.OwnedBy(watch.KindStatefulSet, "web")
	})
	s := watch.NewState(watch.Subject{Kind: watch.KindStatefulSet, Namespace: "dev", Name: "web"}).
		Apply(apiwatch.Added, set).Apply(apiwatch.Added, pod.Pod)
	if got, _ := watch.Analyze(s, cause.DefaultPolicy(), watchtest.Epoch); got.Stage != v1.StageRunning {
		t.Errorf("%s %q, want Running", got.Stage, got.Message)
	}
}
