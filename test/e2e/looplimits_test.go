//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/lifecycle"
)

// ages has a workspace be in its desired state for two hours already.
func (w *world) ages(id string) {
	w.Helper()
	w.eventually("it is adopted", func() bool { return w.state(id).ID != "" })
	_, err := w.recorded().Change(w.Context(), id, func(r lifecycle.Record) (lifecycle.Record, error) {
		r.DesiredAt = time.Now().UTC().Add(-2 * time.Hour)
		return r, nil
	})
	if err != nil {
		w.Fatal(err)
	}
}

// What a limit says is done once it is reached, and said. The limits of the configuration are
// read again when it changes.
func TestLoopEnforcesLimits(t *testing.T) {
	w := newWorld(t)
	w.must(0, "provision", "alice~plain")
	id, dir := w.idOf("alice~plain"), t.TempDir()
	w.write(dir, "config.yaml", "limits: {maxActiveHours: 1}\n")
	limited := w.asLoop()
	cmd := limited.loop()
	cmd.Env = append(cmd.Env, "BERTH_CONFIG="+filepath.Join(dir, "config.yaml"))
	run := w.launch(cmd)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the loop says:\n%s", run.stderr.String())
		}
	})
	w.ages(id)
	r := w.becomes(id, v1.DesiredStopped, v1.ActualStopped)
	if r.Reason != lifecycle.MaxActive || did(run, "stop", id) != 1 {
		t.Errorf("%s by %q", r, r.Reason)
	}
	w.contains(w.must(0, "status", "alice~plain").stdout, "maxActiveHours")
	w.ages(id)
	w.write(dir, "config.yaml", "limits: {maxActiveHours: 1, maxStoppedHours: 1}\n")
	w.eventually("it is deleted", func() bool { return w.state(id).ID == "" })
	w.must(7, "status", "alice~plain")
}

// workspacePods selects what belongs to the role workspaces.
const workspacePods = "app.kubernetes.io/component=workspaces"

// The role as it is printed stops fifty workspaces by their limit, none twice, though one of
// its two pods is killed meanwhile.
func TestRoleOfWorkspaces(t *testing.T) {
	const many = 50
	w := newWorld(t)
	system := newWorldAlone(t)
	system.kubeconfig = system.admin
	var users []string
	for i := range many {
		users = append(users, fmt.Sprintf("user%d~plain", i))
	}
	w.must(0, "provision", "-f", w.teamFile(strings.Join(users, "\n")+"\n"), "--no-wait", "--parallel", "8")
	config := w.write(t.TempDir(), "config.yaml", "limits: {maxActiveHours: 1}\n")
	printed := system.must(0, "serve", "manifests", "workspaces", "--only", w.namespace, "--configuration", config,
		"--image", "registry.example.com/berth/berth:"+system.program(binary))
	file := w.write(t.TempDir(), "server.yaml", printed.stdout)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the role says:\n%s", system.output("logs", "--selector", workspacePods, "--prefix", "--tail", "80"))
		}
		system.kubectl("delete", "deployment", "berth-workspaces", "--ignore-not-found", "--cascade=foreground",
			"--timeout=60s")
		system.kubectl("delete", "clusterrole", "--selector", workspacePods, "--ignore-not-found")
	})
	apply := exec.Command(os.Getenv("BERTH_TEST_KUBECTL"), "apply", "--server-side", "-f", file, "--kubeconfig",
		system.admin) // in two namespaces
	if out, err := apply.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	records := func() []lifecycle.Record {
		all, _, err := w.recorded().List(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	isStopped := func(r lifecycle.Record) bool {
		return r.Desired == v1.DesiredStopped && r.Actual == v1.ActualStopped && !r.Pending() &&
			r.Reason == lifecycle.MaxActive
	}
	defer func() {
		for _, r := range records() {
			if t.Failed() && !isStopped(r) {
				t.Logf("%s by %q, pending: %v, %s, %+v", r, r.Reason, r.Pending(), r.Cause, r.History)
			}
		}
	}()
	w.eventually("all are adopted", func() bool { return len(records()) == many })
	ended := w.deletions()
	for _, r := range records() {
		w.ages(r.ID)
	}
	w.eventually("some are stopped", func() bool { return ended.count() > 0 })
	pods, err := w.CoreV1().Pods(system.namespace).List(t.Context(), metav1.ListOptions{LabelSelector: workspacePods})
	if err != nil || len(pods.Items) == 0 {
		t.Fatal(err)
	}
	system.kubectl("delete", "pod", pods.Items[0].Name, "--now", "--wait=false")
	w.eventually("all are stopped", func() bool {
		n := 0
		for _, r := range records() {
			if isStopped(r) {
				n++
			}
		}
		return n == many
	})
	for _, r := range records() {
		if steps := stops(r); steps != 1 {
			t.Errorf("%s was stopped %d times: %+v", r.ID, steps, r.History)
		}
	}
	if n := ended.count(); n != many {
		t.Errorf("%d pods have ended", n)
	}
	w.must(0, "start", "user7~plain")
	if r := w.state(w.idOf("user7~plain")); r.Desired != v1.DesiredRunning || r.Reason != "" {
		t.Errorf("%s by %q", r, r.Reason)
	}
	if log := system.output("logs", "--selector", workspacePods, "--tail", "-1"); strings.Contains(log, "forbidden") ||
		strings.Contains(log, "may not") {
		t.Errorf("the role may not do what it has to:\n%s", log)
	}
}

// stops is how often a workspace was meant to stop.
func stops(r lifecycle.Record) (n int) {
	before := v1.DesiredRunning
	for _, c := range r.History {
		if c.Desired == v1.DesiredStopped && before != c.Desired {
			n++
		}
		before = c.Desired
	}
	return n
}

// ends are the pods of workspaces that have ended since.
type ends struct {
	w   *world
	all map[string]bool
}

// deletions begins to count the pods that end.
func (w *world) deletions() ends {
	w.Helper()
	return ends{w, w.workspacePods()}
}

// count is how many of the pods that there were are gone.
func (e ends) count() (n int) {
	now := e.w.workspacePods()
	for uid := range e.all {
		if !now[uid] {
			n++
		}
	}
	return n
}

// workspacePods are the UIDs of the pods of workspaces.
func (w *world) workspacePods() map[string]bool {
	w.Helper()
	list, err := w.CoreV1().Pods(w.namespace).List(w.Context(), metav1.ListOptions{})
	if err != nil {
		w.Fatal(err)
	}
	uids := map[string]bool{}
	for _, pod := range list.Items {
		if pod.Status.Phase != corev1.PodSucceeded {
			uids[string(pod.UID)] = true
		}
	}
	return uids
}
