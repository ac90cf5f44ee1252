//go:build e2e

package e2e

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/berthdev/berth/api/v1"
)

const workspaceImage = "registry.example.com/berth/workspace:v1"

// A workspace that failed is explained: by its user string, its ID and the name
// of its pod.
func TestDiagnoseWorkspace(t *testing.T) {
	w := newWorld(t)
	w.must(7, "diagnose", "alice~crashing")
	r := w.must(3, "provision", "alice~crashing")
	w.contains(r.stderr, "berth diagnose alice~crashing")
	id := w.idOf("alice~crashing")
	for _, name := range []string{"alice~crashing", id, "id/" + id, "pod/" + id} {
		d := decode[v1.Diagnosis](w, w.must(0, "diagnose", name, "-o", "json"))
		if d.Subject != "pod/"+id || d.UserString != "alice~crashing" || d.Verdict != v1.VerdictFailed ||
			d.FailedAt == nil {
			t.Errorf("%s: %+v", name, d)
		}
		if d.Cause == nil || d.Cause.Code != "CrashLoop" || d.Cause.ExitCode == nil || *d.Cause.Restarts < 3 {
			t.Errorf("%s: the cause is %+v", name, d.Cause)
		}
		if d.Logs == nil || !slices.Contains(d.Logs.Lines, "nodenv: not found") {
			t.Errorf("%s: the logs are %+v", name, d.Logs)
		}
		w.contains(d.Hint, "exit code 1")
	}
	w.must(3, "diagnose", "alice~crashing", "--exit-code")
	text := w.must(0, "diagnose", "alice~crashing").stdout
	w.contains(text, "Failed", "crash loop", "nodenv: not found", "berth provision alice~crashing",
		"berth delete alice~crashing")
}

// A waiting workspace is shown with the reason, a running one with how to enter it.
func TestDiagnoseWorkspaceThatDidNotFail(t *testing.T) {
	w := newWorld(t)
	w.must(0, "provision", "alice~plain")
	d := decode[v1.Diagnosis](w, w.must(0, "diagnose", "alice~plain", "-o", "json", "--exit-code"))
	if d.Verdict != v1.VerdictRunning || d.Cause != nil || d.FailedAt != nil {
		t.Errorf("%+v", d)
	}
	w.contains(w.must(0, "diagnose", "alice~plain").stdout, "Running", "berth exec alice~plain")

	w.must(0, "provision", "alice~huge", "--no-wait")
	w.waitForPod("alice~huge", unscheduled)
	d = decode[v1.Diagnosis](w, w.must(0, "diagnose", "alice~huge", "-o", "json"))
	if d.Verdict != v1.VerdictWaiting || d.Cause == nil || d.Cause.Code != "Unschedulable" {
		t.Errorf("%+v", d)
	}
	w.contains(d.Hint, "too little cpu left", "asks for 64 cpu", "blueprint huge")

	// The pod is deleted; the release stays.
	_ = w.CoreV1().Pods(w.namespace).Delete(t.Context(), w.idOf("alice~huge"), *metav1.NewDeleteOptions(0))
	w.eventually("the pod is gone", func() bool { return w.pod(w.idOf("alice~huge")) == nil })
	if d = decode[v1.Diagnosis](w, w.must(0, "diagnose", "alice~huge", "-o", "json")); d.Verdict != v1.VerdictGone {
		t.Errorf("%+v", d)
	}
}

// A Deployment that no berth made, in a namespace whose quota is too small for
// it.
func TestDiagnoseDeploymentWithoutQuota(t *testing.T) {
	w := newWorld(t)
	w.limitPods("1")
	w.deploy("api", 2)
	diagnose := func() v1.Diagnosis {
		return decode[v1.Diagnosis](w, w.must(0, "diagnose", "deployment/api", "-o", "json"))
	}
	w.eventually("the quota refuses the second pod and the first one runs", func() bool {
		d := diagnose()
		return d.Cause != nil && d.Cause.Code == "QuotaExceeded" && strings.HasPrefix(d.Message, "1 of 2 ready")
	})
	d := diagnose()
	if d.Verdict != v1.VerdictWaiting || d.Subject != "deployment/api" || d.Namespace != w.namespace {
		t.Errorf("%+v", d)
	}
	w.contains(d.Hint, "Quota small", "pods: 1 more wanted, 1 of 1 in use")
	if strings.Contains(d.Hint, "blueprint") {
		t.Errorf("the hint speaks of blueprints: %s", d.Hint)
	}
	w.must(7, "diagnose", "deployment/nothing")
	w.must(2, "diagnose", "cronjob/api")

	// The same from a dump, without the cluster.
	dump, err := exec.Command("kubectl", "--kubeconfig", w.admin, "--namespace", w.namespace,
		"get", "deployments,replicasets,pods,events", "-o", "json").Output()
	if err != nil {
		t.Skipf("no dump: %v", err)
	}
	cmd := w.command("diagnose", "-f", "-", "-o", "json")
	cmd.Env = append(cmd.Env, "KUBECONFIG=/nonexistent")
	cmd.Stdin = strings.NewReader(string(dump))
	if same := decode[v1.Diagnosis](w, w.finish(cmd)); same.Cause == nil || same.Cause.Code != "QuotaExceeded" ||
		same.Subject != d.Subject {
		t.Errorf("from a dump: %+v", same)
	}
}

// limitPods makes a quota of pods, and waits until it counts those that are there.
func (w *world) limitPods(most string) {
	w.Helper()
	quotas := w.CoreV1().ResourceQuotas(w.namespace)
	_, err := quotas.Create(w.Context(), &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "small"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse(most)}},
	}, metav1.CreateOptions{})
	if err != nil {
		w.Fatal(err)
	}
	w.eventually("the quota counts", func() bool {
		quota, err := quotas.Get(w.Context(), "small", metav1.GetOptions{})
		pods, listErr := w.CoreV1().Pods(w.namespace).List(w.Context(), metav1.ListOptions{})
		used, known := quota.Status.Used[corev1.ResourcePods]
		return err == nil && listErr == nil && known && used.Value() == int64(len(pods.Items))
	})
}

// deploy makes a Deployment of pods that do nothing.
func (w *world) deploy(name string, replicas int32) {
	w.Helper()
	labels := map[string]string{"app": name}
	_, err := w.AppsV1().Deployments(w.namespace).Create(w.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					TerminationGracePeriodSeconds: new(int64),
					Containers: []corev1.Container{{
						Name: "app", Image: workspaceImage,
						Command: []string{"/bin/sh", "-c", "while :; do sleep 1; done"},
					}},
				},
			},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		w.Fatal(err)
	}
}
