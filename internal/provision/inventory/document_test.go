package inventory

import (
	"fmt"
	"testing"
	"time"

	helm "helm.sh/helm/v3/pkg/release"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/workload"
	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/watchtest"
)

// The job and the blueprint of a workspace are on its pod, else in its record, or where else it
// stands.
func TestWhatItWasMadeOf(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{
		kube.LabelJobID:     "job",
		kube.LabelBlueprint: "dev",
	}}}
	template := map[string]any{"spec": map[string]any{"template": map[string]any{"metadata": map[string]any{
		"labels": map[string]any{kube.LabelJobID: "newest"},
	}}}}
	record := &helm.Release{Manifest: "---\napiVersion: v1\nkind: Pod\nmetadata: {name: x, labels: {" +
		kube.LabelBlueprint + ": recorded}}\n"}
	for name, test := range map[string]struct {
		found          Found
		job, blueprint string
	}{
		"nothing":    {Found{}, "", ""},
		"its pod":    {Found{Pod: pod, Record: record}, "job", "dev"},
		"its record": {Found{Record: record}, "", "recorded"},
		"a workload": {Found{Workload: &workload.Workload{Object: template}}, "newest", ""},
		"a workload and its pods": {Found{
			Workload: &workload.Workload{Object: template},
			objects:  Objects{Pods: []*corev1.Pod{pod}},
		}, "newest", "dev"},
		"a workload that is empty": {Found{Workload: &workload.Workload{}}, "", ""},
	} {
		if job, blueprint := test.found.Job(), test.found.Blueprint(); job != test.job || blueprint != test.blueprint {
			t.Errorf("%s: job %q, blueprint %q", name, job, blueprint)
		}
	}
}

// The document of a workspace in a workload of any kind says whose it is by what its pods are
// made from, and was made when its oldest pod was that stays.
func TestDocumentOfAWorkload(t *testing.T) {
	meta := metav1.ObjectMeta{
		Name: "web", Namespace: "dev", UID: "web",
		Annotations: map[string]string{kube.AnnotationInjection: `{"canonicalId":"alice-1"}`},
	}
	template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{
		kube.LabelCanonicalID: "alice-1", kube.LabelUsername: "alice", kube.LabelInjected: "true",
	}}}
	pod := func(name string, age time.Duration, changes ...func(*corev1.Pod)) *corev1.Pod {
		pod := watchtest.NewPod(name, "", changes...).Pod
		pod.Labels = map[string]string{
			kube.LabelCanonicalID: "alice-1", kube.LabelUsername: "older",
			kube.LabelInjected: "true",
		}
		pod.CreationTimestamp = metav1.NewTime(watchtest.Epoch.Add(-age))
		return pod
	}
	pods := []*corev1.Pod{pod("a", 2*time.Hour), pod("b", 3*time.Hour), pod("c", 4*time.Hour, watchtest.Deleting)}
	for kind, object := range map[string]metav1.Object{
		"deployment": &appsv1.Deployment{
			ObjectMeta: meta,
			Spec:       appsv1.DeploymentSpec{Template: template, Selector: &metav1.LabelSelector{}},
		},
		"statefulset": &appsv1.StatefulSet{
			ObjectMeta: meta,
			Spec:       appsv1.StatefulSetSpec{Template: template, Selector: &metav1.LabelSelector{}},
		},
		"daemonset": &appsv1.DaemonSet{
			ObjectMeta: meta,
			Spec:       appsv1.DaemonSetSpec{Template: template, Selector: &metav1.LabelSelector{}},
		},
	} {
		w, _ := Objects{Pods: pods, Workload: object}.Workspace(cause.DefaultPolicy(), watchtest.Epoch)
		if w.ID != "alice-1" || w.Owner != "alice" || w.Namespace != "dev" ||
			!w.CreatedAt.Equal(watchtest.Epoch.Add(-3*time.Hour)) {
			t.Errorf("%s: %+v", kind, w)
		}
	}
	w, _ := Objects{Pods: []*corev1.Pod{pods[1], pods[0]}}.Workspace(cause.DefaultPolicy(), watchtest.Epoch)
	if w.Owner != "older" || w.Stage == v1.StageTerminating {
		t.Errorf("without the workload: %+v", w)
	}
}

// The events of a workspace are those about its pods, its workload and what explains them, by
// their UIDs.
func TestEvents(t *testing.T) {
	pod := watchtest.NewPod("alice-1", "pod").Pod
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{UID: "claim"}}
	for name, test := range map[string]struct {
		objects Objects
		want    int
	}{
		"its pod":      {Objects{Pods: []*corev1.Pod{pod}}, 1},
		"and a claim":  {Objects{Pods: []*corev1.Pod{pod}, Around: []runtime.Object{claim}}, 2},
		"the workload": {Objects{Workload: &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{UID: "web"}}}, 1},
		"nothing":      {Objects{}, 0},
	} {
		for i, uid := range []string{"pod", "earlier pod", "claim", "web"} {
			event := watchtest.Event("alice-1", "", "", fmt.Sprint("Reason", i), "").Event
			event.Name, event.InvolvedObject.UID = fmt.Sprint("e", i), types.UID(uid)
			test.objects.Around = append(test.objects.Around, event)
		}
		if got := test.objects.Events(); len(got) != test.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
