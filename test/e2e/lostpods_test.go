//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/rbac"
)

// drained evicts the pod of a workspace, as `kubectl drain` does, and waits until it is gone.
func (w *world) drained(user string) (id string) {
	w.Helper()
	id = w.idOf(user)
	eviction := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: id, Namespace: w.namespace}}
	if err := w.CoreV1().Pods(w.namespace).EvictV1(w.Context(), eviction); err != nil {
		w.Fatal(err)
	}
	w.eventually("its pod is gone", func() bool { return w.pod(id) == nil })
	return id
}

// over has the kubelet end the pod of a workspace for good: it has run for longer than it may.
func (w *world) over(user string) (id string) {
	w.Helper()
	id = w.idOf(user)
	w.kubectl("patch", "pod", id, "--type", "merge", "-p", `{"spec":{"activeDeadlineSeconds":1}}`)
	w.eventually("its pod is over", func() bool {
		pod := w.pod(id)
		return pod != nil && pod.Status.Phase == corev1.PodFailed
	})
	return id
}

// withoutPods forbids pods in the namespace.
func (w *world) withoutPods() {
	w.Helper()
	quota := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "none"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("0")}},
	}
	if _, err := w.CoreV1().ResourceQuotas(w.namespace).Create(w.Context(), quota, metav1.CreateOptions{}); err != nil {
		w.Fatal(err)
	}
	w.eventually("the quota counts",
		func() bool { return w.berth("provision", "erin~plain", "--dry-run=server").status == 3 })
}

// listed are the user strings in a list, with what is said of each.
func (w *world) listed(args ...string) map[string]v1.Workspace {
	w.Helper()
	all := map[string]v1.Workspace{}
	for _, item := range decode[v1.WorkspaceList](w, w.must(0, append([]string{"status", "-o", "json"}, args...)...)).
		Items {
		all[item.UserString] = item
	}
	return all
}

func names(all map[string]v1.Workspace) string {
	var names []string
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// After a drain, workspaces are listed, found by their owner, counted and completed without their
// pods, with what brings them back; also one that a quota refuses, and storage that is kept.
func TestPodsAreGone(t *testing.T) {
	w := newWorld(t)
	w.must(0, "provision", "alice~dev")
	w.must(0, "exec", "alice~dev", "--", "sh", "-c", "echo data > /home/dev/file; sync")
	for _, user := range []string{"alice~plain", "bob~plain", "carol~dev"} {
		w.must(0, "provision", user)
	}
	w.must(0, "delete", "carol~dev", "--keep-storage")
	for _, user := range []string{"alice~dev", "alice~plain", "bob~plain"} {
		w.drained(user)
	}
	w.withoutPods()
	w.must(3, "provision", "dave~plain")

	all := w.listed()
	if got := names(all); got != "alice~dev alice~plain bob~plain dave~plain" {
		t.Errorf("there are %s", got)
	}
	for user, item := range all {
		owner, _, _ := strings.Cut(user, "~")
		start := fmt.Sprintf("pod gone; start it: berth start %s --namespace %s", user, w.namespace)
		if item.Owner != owner || !item.Startable || user != "dave~plain" && item.Message != start {
			t.Errorf("%s: %+v", user, item)
		}
	}
	if c := all["dave~plain"].Cause; c == nil || c.Code != "QuotaExceeded" {
		t.Errorf("the one that was refused: %+v", all["dave~plain"])
	}
	w.contains(w.must(0, "status").stdout, "alice", "pod gone; start it")
	for _, of := range [][]string{{"status", "alice~dev"}, {"diagnose", "alice~dev"}} {
		w.contains(w.must(0, of...).stdout, "pod gone; start it", "berth start alice~dev")
	}
	w.must(3, "start", "alice~plain") // is refused as what is new
	if item := w.listed()["alice~plain"]; item.Stage != v1.StageFailed || item.Cause == nil ||
		item.Cause.Code != "QuotaExceeded" || !item.Startable {
		t.Errorf("one whose start was refused: %+v", item)
	}
	if text := w.must(0, "diagnose", "alice~plain").stdout; !strings.Contains(text, "bring it back") ||
		strings.Contains(text, "recreate it") {
		t.Errorf("of one whose start was refused the diagnosis is\n%s", text)
	}
	w.contains(w.must(125, "exec", "alice~dev", "--", "true").stderr, "start it: berth start alice~dev -n "+w.namespace)
	if got := names(w.listed("--owner", "alice")); got != "alice~dev alice~plain" {
		t.Errorf("alice has %s", got)
	}
	kept := w.listed("--all")
	if got := kept["carol~dev"]; names(kept) != "alice~dev alice~plain bob~plain carol~dev dave~plain" || !got.Kept ||
		!strings.Contains(got.Message, "its storage is kept") {
		t.Errorf("with what is kept there are %s: %+v", names(kept), got)
	}
	w.offers([]string{"start", ""}, "alice~dev\t", "alice~plain\t", "bob~plain\t", "dave~plain\t",
		"carol~dev\tdeleted, storage kept")
	refused := w.configured("limits: {workspacesPerUser: 2}\n", "provision", "alice~limited")
	refused.mustBe(w, 3)
	w.contains(refused.stderr, "alice has 2 workspaces")

	w.kubectl("delete", "quota", "none")
	if r := w.must(0, "stop", "bob~plain"); strings.Contains(r.stderr+r.stdout, "stopped already") {
		t.Errorf("of one that was not stopped it says %s%s", r.stdout, r.stderr)
	}
	w.must(0, "start", "--owner", "alice")
	for user, item := range w.listed("--owner", "alice") {
		if before := all[user].CreatedAt; before.IsZero() || item.CreatedAt.Sub(before).Abs() > 5*time.Second {
			t.Errorf("%s was created %s, and %s once it is started again", user, before, item.CreatedAt)
		}
	}
	if r := w.must(0, "exec", "alice~dev", "--", "cat", "/home/dev/file"); r.stdout != "data\n" {
		t.Errorf("after a drain there is %q", r.stdout)
	}
	w.must(0, "delete", "alice~dev", "alice~plain", "bob~plain", "carol~dev", "dave~plain")
	w.nothingIsLeft()
}

// Without the permission to list Secrets, or claims, a list has what the other kinds say.
func TestPodsAreGoneForWhoMayNotListAll(t *testing.T) {
	w := newWorld(t)
	w.must(0, "provision", "alice~dev")
	w.must(0, "provision", "bob~plain")
	w.drained("alice~dev")
	without := func(resource string) *world {
		rules := rbac.Named("status").PolicyRules()
		for i, rule := range rules {
			rules[i].Resources = slices.DeleteFunc(slices.Clone(rule.Resources),
				func(r string) bool { return r == resource })
		}
		rules = slices.DeleteFunc(rules, func(r rbacv1.PolicyRule) bool { return len(r.Resources) == 0 })
		return w.as(grant{w.namespace, rules})
	}
	for resource, says := range map[string]string{
		"secrets":                "it has no pod, and you may not see whether it is installed",
		"persistentvolumeclaims": "pod gone; start it: ", "configmaps": "pod gone; start it: ",
	} {
		limited := without(resource)
		r := limited.must(0, "status", "-o", "json")
		list := decode[v1.WorkspaceList](limited, r)
		if len(list.Items) != 2 || !strings.HasPrefix(list.Items[0].Message, says) ||
			list.Items[0].UserString != "alice~dev" || strings.Contains(r.stderr, "listed") {
			t.Errorf("without %s there are %+v\n%s", resource, list.Items, r.stderr)
		}
	}
}

// What ran when its pod went is meant to run: one pass brings it back, whether all is compared or
// not, and the job is recorded.
func TestReconcileOfLostPods(t *testing.T) {
	w := newWorld(t)
	loop := w.asLoop()
	for _, args := range [][]string{{"reconcile"}, {"reconcile", "--full"}} {
		w.must(0, "provision", "alice~plain")
		id := w.drained("alice~plain")
		done := decode[v1.WorkspaceReconciliation](loop, loop.must(0, append(args, "-o", "json")...))
		if len(done.Items) != 1 || done.Items[0].Done != "start" || done.Items[0].Desired != v1.DesiredRunning {
			t.Errorf("%s: %+v", args, done.Items)
		}
		w.eventually("it runs", func() bool { return w.listed()["alice~plain"].Stage == v1.StageRunning })
		jobs := decode[v1.JobList](w, w.must(0, "jobs", "-o", "json"))
		if newest := jobs.Items[0]; len(jobs.Items) < 2 || newest.ID != w.pod(id).Labels["k8shell.io/job-id"] {
			t.Errorf("%s: the jobs are %+v", args, jobs.Items)
		}
		w.must(0, "delete", "alice~plain")
	}
}

// What cannot be started for a while is still meant to run: nothing of that start is lost.
func TestReconcileOfARefusedStart(t *testing.T) {
	w := newWorld(t)
	w.must(0, "provision", "alice~plain")
	w.drained("alice~plain")
	w.withoutPods()
	r := w.must(3, "start", "alice~plain")
	if strings.Contains(r.stderr, "what was created") {
		t.Errorf("it proposes to delete what was there before:\n%s", r.stderr)
	}
	w.kubectl("delete", "resourcequotas", "--all", "--namespace", w.namespace)
	w.asLoop().must(0, "reconcile", "--full")
	w.eventually("it runs", func() bool { return w.listed()["alice~plain"].Stage == v1.StageRunning })
}

// What is left of a deletion that was interrupted before Helm's record was gone is not started again.
func TestReconcileOfAnInterruptedDelete(t *testing.T) {
	w := newWorld(t)
	w.must(0, "provision", "alice~plain")
	id := w.drained("alice~plain")
	w.kubectl("delete", "configmap", id+"-config", "--namespace", w.namespace)
	loop := w.asLoop()
	loop.berth("reconcile", "--full")
	if pod := w.pod(id); pod != nil {
		t.Errorf("it is started again: %s", pod.Name)
	}
	w.must(0, "delete", "alice~plain")
	w.nothingIsLeft()
}

// A pod that is over is replaced, with its storage, by whatever brings a workspace up; what is
// proposed says so first.
func TestPodsThatAreOver(t *testing.T) {
	w := newWorld(t)
	w.must(0, "provision", "alice~dev")
	w.must(0, "exec", "alice~dev", "--", "sh", "-c", "echo data > /home/dev/file; sync")
	kept := func(after string) {
		t.Helper()
		if r := w.must(0, "exec", "alice~dev", "--", "cat", "/home/dev/file"); r.stdout != "data\n" {
			t.Errorf("after %s there is %q", after, r.stdout)
		}
	}
	w.over("alice~dev")
	shown := decode[v1.Workspace](w, w.must(0, "status", "alice~dev", "-o", "json"))
	if !shown.Ended || !shown.Startable || shown.Stage != v1.StageFailed {
		t.Errorf("%+v", shown)
	}
	text := w.must(0, "status", "alice~dev").stdout
	if start, remove := strings.Index(text, "berth start alice~dev"),
		strings.Index(text, "berth delete alice~dev"); start < 0 || start > remove {
		t.Errorf("it proposes\n%s", text)
	}
	w.contains(w.must(125, "exec", "alice~dev", "--", "true").stderr, "its pod is over", "berth start")
	diagnosis := w.must(0, "diagnose", "alice~dev").stdout
	w.contains(diagnosis, "berth start alice~dev")
	if strings.Contains(diagnosis, "the pod's spec") {
		t.Errorf("it speaks of what berth makes:\n%s", diagnosis)
	}
	if strings.Contains(diagnosis, "berth provision") {
		t.Errorf("it proposes other than berth status does:\n%s", diagnosis)
	}
	for _, args := range [][]string{
		{"start", "alice~dev"},
		{"provision", "alice~dev"},
		{"exec", "alice~dev", "--provision", "--", "true"},
	} {
		if args[0] != "start" {
			w.over("alice~dev")
		}
		w.must(0, args...)
		kept("berth " + strings.Join(args, " "))
	}
	run := w.runLoop()
	id := w.idOf("alice~dev")
	w.becomes(id, v1.DesiredRunning, v1.ActualRunning)
	before := w.pod(id).UID
	w.over("alice~dev")
	w.eventually("the loop has replaced its pod", func() bool { return did(run, "start", id) == 1 })
	w.becomes(id, v1.DesiredRunning, v1.ActualRunning)
	if pod := w.pod(id); pod == nil || pod.UID == before {
		t.Errorf("its pod is %+v", pod)
	}
	kept("the loop has started it")
	w.must(0, "stop", "alice~dev")
	w.becomes(id, v1.DesiredStopped, v1.ActualStopped)
	if d := decode[v1.Diagnosis](w, w.must(0, "diagnose", "alice~dev", "-o", "json")); d.Verdict != v1.VerdictStopped ||
		d.Stage != v1.StageStopped {
		t.Errorf("of one that is stopped the diagnosis is %+v", d)
	}
	stopped := w.must(0, "diagnose", "alice~dev").stdout
	w.contains(stopped, "Stopped for ", "berth start alice~dev")
	if strings.Contains(stopped, "gone") {
		t.Errorf("one that is stopped is told as lost:\n%s", stopped)
	}
	run.signal(os.Interrupt)
	run.wait().mustBe(w, 0)
	w.must(0, "delete", "alice~dev")
}
