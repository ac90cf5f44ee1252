//go:build e2e

package e2e

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/berthdev/berth/api/v1"
)

// A pod that the cluster rejects is a failure with its cause and hint, and later
// commands still show it; once the rule allows the pod, the same command
// succeeds.
func TestRefusedPods(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, cause string
		rule        func(w *world) (lift func())
		hint        string
	}{
		{"quota", "QuotaExceeded", noPods, "pods: 1 more wanted, 0 of 0 in use"},
		{"limit range", "PodRefused", boundMemory, "kubectl describe limitrange"},
		{"pod security", "PodRefused", restrict, "security level restricted"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			lift := test.rule(w)
			w.takesPods(false)
			doc := decode[v1.Error](w, w.must(3, "provision", "alice", "-o", "json"))
			if doc.Workspace == nil || doc.Workspace.Stage != v1.StageFailed || doc.Workspace.Cause == nil ||
				doc.Workspace.Cause.Code != test.cause {
				t.Errorf("%+v", doc.Workspace)
			}
			w.contains(doc.Hint, test.hint)

			later := decode[v1.Workspace](w, w.must(0, "status", "alice", "-o", "json"))
			if later.Stage != v1.StageFailed || later.Cause == nil || later.Cause.Code != test.cause {
				t.Errorf("afterwards it is %+v", later.Snapshot)
			}
			diagnosis := decode[v1.Diagnosis](w, w.must(0, "diagnose", "alice", "-o", "json"))
			if diagnosis.Verdict != v1.VerdictFailed || diagnosis.Cause == nil || diagnosis.Cause.Code != test.cause {
				t.Errorf("the diagnosis is %+v", diagnosis)
			}
			w.contains(diagnosis.Hint, test.hint)

			lift()
			w.takesPods(true)
			w.must(0, "provision", "alice")
		})
	}
}

// What the hint about pod security says is enough: such a blueprint is taken, and
// its workspace can be entered.
func TestRestrictedNamespace(t *testing.T) {
	w := newWorld(t)
	restrict(w)
	w.takesPods(false)
	w.must(0, "provision", "alice~restricted")
	w.contains(w.must(0, "exec", "alice~restricted", "--", "id", "-u").stdout, "1000")
}

func noPods(w *world) func() {
	w.Helper()
	w.limitPods("0")
	return func() {
		w.ok(w.CoreV1().ResourceQuotas(w.namespace).Delete(w.Context(), "small", metav1.DeleteOptions{}))
	}
}

func boundMemory(w *world) func() {
	w.Helper()
	ranges := w.CoreV1().LimitRanges(w.namespace)
	_, err := ranges.Create(w.Context(), &corev1.LimitRange{
		ObjectMeta: metav1.ObjectMeta{Name: "small"},
		Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{
			Type: corev1.LimitTypeContainer,
			Max:  corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("64Mi")},
		}}},
	}, metav1.CreateOptions{})
	w.ok(err)
	return func() { w.ok(ranges.Delete(w.Context(), "small", metav1.DeleteOptions{})) }
}

func restrict(w *world) func() {
	w.Helper()
	label := func(value string) {
		w.Helper()
		patch := `{"metadata": {"labels": {"pod-security.kubernetes.io/enforce": ` + value + `}}}`
		_, err := w.CoreV1().Namespaces().
			Patch(w.Context(), w.namespace, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		w.ok(err)
	}
	label(`"restricted"`)
	return func() { label("null") }
}

// takesPods waits until a rule is known where pods are admitted, or no more.
func (w *world) takesPods(takes bool) {
	w.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "trial"},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "main", Image: "alpine",
			Resources: corev1.ResourceRequirements{
				Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("512Mi")},
			},
		}}},
	}
	w.eventually(fmt.Sprintf("pods are taken: %t", takes), func() bool {
		_, err := w.CoreV1().Pods(w.namespace).
			Create(w.Context(), pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return (err == nil) == takes
	})
}

func (w *world) ok(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}
