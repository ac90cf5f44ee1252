//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/rbac"
)

// What doctor says that the cluster would refuse, the cluster refuses: a quota
// on what no container says, and pod security that workspaces do not meet.
func TestDoctorBeforeARefusal(t *testing.T) {
	w := newWorld(t)
	w = w.as(w.role(rbac.Developer()), clusterRole(rbac.Named("doctor")))
	quotas := w.CoreV1().ResourceQuotas(w.namespace)
	_, err := quotas.Create(w.Context(), &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "bounded"},
		Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{
			corev1.ResourceLimitsCPU:      resource.MustParse("8"),
			corev1.ResourceRequestsMemory: resource.MustParse("1Mi"),
		}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w.eventually("the quota counts", func() bool {
		quota, err := quotas.Get(w.Context(), "bounded", metav1.GetOptions{})
		return err == nil && len(quota.Status.Used) > 0
	})
	r := w.must(3, "doctor", "-o", "json")
	w.item(r, "room", v1.CheckupFailed, "quota bounded requires limits.cpu of each container",
		"quota bounded allows 1Mi requests.memory")
	w.contains(w.must(3, "provision", "alice~plain").stderr, "quota")
	if err := quotas.Delete(w.Context(), "bounded", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	restrict(w)
	w.takesPods(false)
	r = w.must(0, "doctor", "-o", "json")
	w.item(r, "namespace", v1.CheckupWarning, "pod security level restricted")
	w.item(r, "room", v1.CheckupOK)
	w.contains(w.must(3, "provision", "bob~plain").stderr, "violates PodSecurity")
}

// A missing NATS and a missing cert-manager are reported; what a developer may not
// read is skipped.
func TestDoctorOfWhatIsConfigured(t *testing.T) {
	w := newWorldAlone(t) // another test has the cluster know certificates for a while
	config := filepath.Join(t.TempDir(), "config.yaml")
	text := "jobs: {nats: {service: {namespace: kube-system, name: nats}, token: hunter2}}\n" +
		"certificate: {enabled: true, issuer: {name: team}}\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(w *world, args ...string) result {
		cmd := w.command(append([]string{"doctor"}, args...)...)
		cmd.Env = append(cmd.Env, "BERTH_CONFIG="+config)
		return w.finish(cmd)
	}
	r := run(w, "-o", "json")
	r.mustBe(w, 3)
	w.item(r, "nats", v1.CheckupWarning, "jobs.nats.service", "you may not get services nats in namespace kube-system")
	w.item(r, "certificates", v1.CheckupFailed, "certificates.cert-manager.io")
	w.item(r, "network", v1.CheckupSkipped, "you may not list daemonsets.apps")
	w.item(r, "room", v1.CheckupSkipped, "resourcequotas")
	w.item(r, "namespace", v1.CheckupSkipped, "namespaces")
	r = run(w.as(w.role(rbac.Developer()), clusterRole(rbac.Named("doctor")),
		grant{"kube-system", rbac.Named(rbac.JobsInNATS).PolicyRules()}))
	r.mustBe(w, 3)
	w.contains(r.stdout, "▲ nats", "cannot get services nats", "✘ certificates", "■ network", "no known network plugin",
		"✔ room")
}

// Records that have expired are counted, and the next command that keeps one
// removes them.
func TestDoctorCountsRecords(t *testing.T) {
	w := newWorld(t)
	w.must(0, "provision", "alice~plain")
	w.item(w.must(0, "doctor", "-o", "json"), "records", v1.CheckupOK, "1 in the namespace")
	maps, err := w.CoreV1().ConfigMaps(w.namespace).
		List(t.Context(), metav1.ListOptions{LabelSelector: "k8shell.io/job-expires"})
	if err != nil || len(maps.Items) != 1 {
		t.Fatalf("%v, %v", maps, err)
	}
	old := maps.Items[0]
	old.Labels["k8shell.io/job-expires"] = "1"
	if _, err := w.CoreV1().ConfigMaps(w.namespace).Update(t.Context(), &old, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	w.item(w.must(0, "doctor", "-o", "json"), "records", v1.CheckupOK, "0 in the namespace, and 1 that expired",
		"the next command that writes here removes them")
	w.must(0, "provision", "bob~plain")
	w.item(w.must(0, "doctor", "-o", "json"), "records", v1.CheckupOK, "1 in the namespace")
}
