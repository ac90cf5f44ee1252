package watch

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	v1 "github.com/berthdev/berth/api/v1"
)

// A deployment of one replica is followed by its newest revision.
func TestAnalyzeDeployment(t *testing.T) {
	crashing := app(exits(1, "Error", 0), exitedBefore(1, "Error", 9))
	for name, test := range map[string]struct {
		deployment *appsv1.Deployment
		pods       []madePod
		stage      v1.Stage
		cause      string
	}{
		"up": {
			deployment: deployment(2, 2, available), pods: []madePod{owned("b", onNode, appReady)},
			stage: v1.StageRunning,
		},
		"a pod of an older revision crashes": {
			deployment: deployment(2, 2), pods: []madePod{owned("a", onNode, crashing), owned("b", onNode)},
			stage: v1.StageStarting,
		},
		"a terminating pod crashes": {
			deployment: deployment(2, 2), pods: []madePod{owned("b", onNode, crashing, deleting)},
			stage: v1.StageScheduling,
		},
		"an evicted pod has a successor": {
			deployment: deployment(2, 2), stage: v1.StageStarting,
			pods: []madePod{owned("b", onNode, func(p *corev1.Pod) { p.Status.Phase, p.Status.Reason = corev1.PodFailed, "Evicted" }), owned("b", onNode)},
		},
		"the newest revision crashes": {
			deployment: deployment(2, 2), pods: []madePod{owned("b", onNode, crashing)},
			stage: v1.StageFailed, cause: "CrashLoop",
		},
		"the status is of an older generation": {
			deployment: deployment(3, 2, available, late), pods: []madePod{owned("b", onNode, appReady)},
			stage: v1.StageScheduling,
		},
		"it is late": {
			deployment: deployment(2, 2, late), pods: []madePod{owned("b", onNode)},
			stage: v1.StageStarting, cause: "ProgressDeadlineExceeded",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := NewState(Subject{Kind: KindDeployment, Namespace: "dev", Name: "web"})
			objects := []runtime.Object{test.deployment, replicaSet("a", "1"), replicaSet("b", "2")}
			for i, pod := range test.pods {
				pod.UID += types.UID(string(rune('0' + i)))
				objects = append(objects, pod.Pod)
			}
			for _, o := range objects {
				s = s.Apply(watch.Added, o)
			}
			got, _ := Analyze(s, DefaultPolicy(), epoch)
			if got.Stage != test.stage {
				t.Errorf("%s %q, want %s", got.Stage, got.Message, test.stage)
			}
			if test.cause != "" && (got.Cause == nil || !strings.HasPrefix(got.Cause.Code, test.cause)) {
				t.Errorf("cause %+v, want %s", got.Cause, test.cause)
			}
		})
	}
}

func deployment(generation, observed int64, changes ...func(*appsv1.Deployment)) *appsv1.Deployment {
	d := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "dev", UID: "web", ResourceVersion: "1", Generation: generation},
		Status:     appsv1.DeploymentStatus{ObservedGeneration: observed},
	}
	for _, change := range changes {
		change(d)
	}
	return d
}

func available(d *appsv1.Deployment) {
	d.Status.Replicas, d.Status.UpdatedReplicas, d.Status.AvailableReplicas = 1, 1, 1
}

func late(d *appsv1.Deployment) {
	d.Status.Conditions = []appsv1.DeploymentCondition{{
		Type: appsv1.DeploymentProgressing, Status: corev1.ConditionFalse, Reason: "ProgressDeadlineExceeded",
	}}
}

func replicaSet(uid types.UID, revision string) *appsv1.ReplicaSet {
	return &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{
		Name: "web-" + string(uid), Namespace: "dev", UID: uid, ResourceVersion: "1",
		Annotations:     map[string]string{revisionAnnotation: revision},
		OwnerReferences: ownedBy(KindDeployment, "web"),
	}}
}

func owned(replicaSet types.UID, changes ...func(*corev1.Pod)) madePod {
	pod := newPod("web-"+string(replicaSet)+"-x", "pod", changes...)
	pod.OwnerReferences = ownedBy(KindReplicaSet, replicaSet)
	return pod
}

func ownedBy(kind string, uid types.UID) []metav1.OwnerReference {
	controller := true
	return []metav1.OwnerReference{{Kind: kind, UID: uid, Controller: &controller}}
}
