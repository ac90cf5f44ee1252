//go:build e2e

package e2e

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	v1 "github.com/berthdev/berth/api/v1"
)

// A restart stops nothing that would not start again: a quota with room for the one pod lets it
// pass, one that is full without it does not; nor does pod security.
func TestRestartStopsOnlyWhatStartsAgain(t *testing.T) {
	w := newWorld(t)
	w.must(0, "provision", "alice~plain")
	id := w.idOf("alice~plain")
	before := w.pod(id)
	w.quota(corev1.ResourceList{corev1.ResourcePods: resource.MustParse("1")})
	w.must(0, "restart", "alice~plain")
	if w.pod(id).UID == before.UID {
		t.Error("it was not restarted")
	}

	before = w.pod(id)
	refused := func(says ...string) {
		t.Helper()
		e := decode[v1.Error](w, w.must(3, "restart", "alice~plain", "-o", "json"))
		w.contains(e.Message, append(says, "was not stopped")...)
		if pod := w.pod(id); e.Code != "FAILED" || e.Hint == "" || pod == nil || pod.UID != before.UID ||
			pod.DeletionTimestamp != nil {
			t.Errorf("%+v, the pod is %+v", e, pod)
		}
	}
	noQuota := func() { w.kubectl("delete", "resourcequotas", "--all", "--namespace", w.namespace) }
	noQuota() // of several the API server names one
	w.quota(corev1.ResourceList{corev1.ResourcePods: resource.MustParse("0")})
	refused("exceeded quota")
	noQuota()
	w.restrict()
	refused("violates PodSecurity")
	w.allow()
	w.must(0, "exec", "alice~plain", "--", "true")
	w.must(0, "restart", "alice~plain")
	if w.pod(id).UID == before.UID {
		t.Error("it was not restarted")
	}
}
