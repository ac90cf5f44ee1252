package inventory

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/userstring"
	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/watchtest"
)

// readerOf reads a cluster with these objects, an hour after the pods were made.
func readerOf(objects ...runtime.Object) (Reader, *fake.Clientset) {
	client := fake.NewClientset(objects...)
	return Reader{
		Client: &kube.Client{
			Interface: client, Dynamic: dynamicfake.NewSimpleDynamicClient(runtime.NewScheme()),
			Namespace: "dev",
		},
		Policy: cause.DefaultPolicy(), Now: func() time.Time { return watchtest.After(time.Hour) },
	}, client
}

// Anyone who wants to enter a workspace without its pod hears that, and of which workspace.
func TestPodsOfAWorkspaceWithoutOne(t *testing.T) {
	r, client := readerOf()
	target := &Target{ID: "alice-1", Namespace: "dev"}
	if pods, err := r.Pods(t.Context(), target); err == nil || pods != nil ||
		!strings.Contains(err.Error(), "alice-1") || strings.Contains(err.Error(), "not found") {
		t.Errorf("%v, %v", pods, err)
	}
	client.PrependReactor("get", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewServiceUnavailable("busy")
	})
	if _, err := r.Pods(t.Context(), target); fault.CodeOf(err) != fault.Unavailable {
		t.Error(err)
	}
}

// What was found has its ID also where there is no pod to have it from.
func TestDescribeWithoutPods(t *testing.T) {
	w := Found{Reading: v1.Snapshot{Stage: v1.StageUnknown}}.Describe("alice-1", "dev")
	if w.ID != "alice-1" || w.Namespace != "dev" || w.Stage != v1.StageUnknown || w.Workload != "" {
		t.Errorf("%+v", w)
	}
}

// A node that cannot be read, but for want of a permission, is an error.
func TestDescribeWithNodes(t *testing.T) {
	pod := watchtest.NewPod("alice-1", "1", watchtest.OnNode).Pod // nothing is heard of it
	for name, test := range map[string]struct {
		answer error
		code   fault.Code
		unread int
	}{
		"may not be read": {apierrors.NewForbidden(corev1.Resource("nodes"), "node1", nil), "", 1},
		"cannot be read":  {apierrors.NewServiceUnavailable("busy"), fault.Unavailable, 0},
	} {
		r, client := readerOf()
		client.PrependReactor("get", "nodes",
			func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, test.answer })
		w, _, err := r.describe(t.Context(), Objects{Pods: []*corev1.Pod{pod}})
		if fault.CodeOf(err) != test.code || (w == nil) != (err != nil) || w != nil && len(w.Unread) != test.unread {
			t.Errorf("%s: %+v, %v", name, w, err)
		}
	}
}

// A workload that cannot be read is an error; of one that has the workspace nothing more is asked.
func TestLookupOfRemains(t *testing.T) {
	r, client := readerOf()
	r.Client.Dynamic.(*dynamicfake.FakeDynamicClient).
		PrependReactor("get", "deployments", func(clienttesting.Action) (bool, runtime.Object, error) {
			return true, nil, apierrors.NewServiceUnavailable("busy")
		})
	client.PrependReactor("get", "deployments", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewServiceUnavailable("busy")
	})
	if _, err := r.lookupRemains(t.Context(), "alice-1",
		userstring.Workload{Kind: "deployment", Name: "web"}); fault.CodeOf(err) != fault.Unavailable {
		t.Error(err)
	}
	if asked := len(client.Actions()); asked > 1 {
		t.Errorf("%d more requests", asked)
	}
}

// Of the claims that a pod mounts, those are around it that are there.
func TestAround(t *testing.T) {
	pod := watchtest.NewPod("alice-1", "1").Pod
	for _, name := range []string{"missing", "there"} {
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name},
		}})
	}
	r, _ := readerOf(&corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{
		Name:      "there",
		Namespace: pod.Namespace,
	}})
	around, err := r.around(t.Context(), pod)
	if err != nil || len(around) != 1 || around[0] == nil || around[0].(*corev1.PersistentVolumeClaim).Name != "there" {
		t.Errorf("%v, %v", around, err)
	}
}

// A workspace is in the workload that its user string names, else in that of its labels.
func TestWorkloadOf(t *testing.T) {
	labels := func(kind, name string) map[string]string {
		return map[string]string{kube.LabelWorkloadKind: kind, kube.LabelWorkloadName: name}
	}
	for name, test := range map[string]struct {
		meta metav1.ObjectMeta
		want string
	}{
		"its user string": {metav1.ObjectMeta{
			Annotations: of("alice~dev+ns=shop+workload=deployment/web"),
			Labels:      labels("StatefulSet", "db"),
		}, "deployment/web"},
		"its labels": {metav1.ObjectMeta{Labels: labels("StatefulSet", "db")}, "statefulset/db"},
		"no name":    {metav1.ObjectMeta{Labels: labels("StatefulSet", "")}, ""},
		"no kind":    {metav1.ObjectMeta{Labels: labels("", "db")}, ""},
		"none":       {metav1.ObjectMeta{Annotations: of("alice~dev")}, ""},
	} {
		if got := WorkloadOf(&test.meta).String(); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
