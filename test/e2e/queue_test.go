//go:build e2e

package e2e

import (
	"os"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/berthdev/berth/api/v1"
)

// The queue says why a pod waits: to callers that may read its objects. The others see what
// was not read, and the rest.
func TestDiagnoseReadsTheQueue(t *testing.T) {
	w := newWorld(t)
	w.kubectl("create", "--filename", "testdata/queue.yaml") // which fails where Kueue really is
	t.Cleanup(func() { w.kubectl("delete", "--filename", "testdata/queue.yaml") })
	w.kubectl("wait", "--for=condition=Established", "crd/workloads.kueue.x-k8s.io")
	pod, err := w.CoreV1().Pods(w.namespace).Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "train"},
		Spec: corev1.PodSpec{
			SchedulingGates: []corev1.PodSchedulingGate{{Name: "kueue.x-k8s.io/admission"}},
			Containers:      []corev1.Container{{Name: "app", Image: "docker.io/library/busybox:stable"}},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("testdata/workload.yaml")
	if err != nil {
		t.Fatal(err)
	}
	w.kubectl("apply", "--filename",
		w.write(t.TempDir(), "workload.yaml", strings.ReplaceAll(string(text), "UID", string(pod.UID))))

	const why = "workload/train: couldn't assign flavors to pod set main: insufficient unused quota for " +
		"nvidia.com/gpu in flavor a100, 4 more needed"
	said := func(w *world) v1.Diagnosis {
		return decode[v1.Diagnosis](w, w.must(0, "diagnose", "pod/train", "-o", "json"))
	}
	saysWhy := func(w v1.Warning) bool { return w.Message == why && w.Object == "workload/train" }
	admin := *w
	admin.kubeconfig = w.admin
	if d := said(&admin); d.Verdict != v1.VerdictWaiting || !slices.ContainsFunc(d.Warnings, saysWhy) {
		t.Errorf("%+v", d)
	}
	d := said(w)
	unread := strings.Join(d.Unread, " ")
	if d.Cause == nil || !strings.Contains(unread, "list workloads.kueue.x-k8s.io") {
		t.Errorf("without the permission: %+v", d)
	}
}
