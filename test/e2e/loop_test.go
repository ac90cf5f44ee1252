//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/rbac"
	"github.com/berthdev/berth/internal/serve"
)

// loop is the command that keeps the workspaces of the world in their desired state.
func (w *world) loop(args ...string) *exec.Cmd {
	w.Helper()
	return w.command(append([]string{
		"serve", "workspaces", "--only", w.namespace, "--system-namespace", w.namespace, "--partial", "300ms",
		"--metrics-listen", "127.0.0.1:0",
	}, args...)...)
}

// runLoop runs the loop with the least permissions that it can have.
func (w *world) runLoop(args ...string) *process {
	w.Helper()
	limited := w.asLoop()
	run := w.launch(limited.loop(args...))
	w.Cleanup(func() {
		if w.Failed() {
			w.Logf("the loop says:\n%s", run.stderr.String())
		}
	})
	return run
}

// asLoop is the account that the loop has in a cluster.
func (w *world) asLoop() *world {
	w.Helper()
	return w.as(w.role(rbac.Named(rbac.ServeWorkspaces)), w.role(rbac.Named(rbac.ServeWorkspacesInSystem)),
		clusterRole(rbac.Named(rbac.ServeWorkspacesGuard)))
}

// recorded is where the states of the world's workspaces are.
func (w *world) recorded() lifecycle.Records {
	return lifecycle.Place{Client: &kube.Client{
		Interface: w.Interface, Config: w.config,
		Namespace: w.namespace,
	}}.Of(w.namespace)
}

func (w *world) state(id string) lifecycle.Record {
	w.Helper()
	r, err := w.recorded().Get(w.Context(), id)
	if err != nil {
		w.Fatal(err)
	}
	return r
}

// wants records what is wanted, as a command does that is killed right after.
func (w *world) wants(id string, desired v1.DesiredState) {
	w.Helper()
	_, err := w.recorded().Change(w.Context(), id,
		func(r lifecycle.Record) (lifecycle.Record, error) { return r.Set(desired, time.Now().UTC()) })
	if err != nil {
		w.Fatal(err)
	}
}

// becomes waits until a workspace has a desired and an observed state.
func (w *world) becomes(id string, desired v1.DesiredState, actual v1.ActualState) lifecycle.Record {
	w.Helper()
	var r lifecycle.Record
	defer func() {
		if w.Failed() {
			w.Logf("%s: %s\n%+v", r, r.Cause, r.History)
		}
	}()
	w.eventually(fmt.Sprintf("%s is %s, desired %s", id, actual, desired), func() bool {
		r = w.state(id)
		return r.Desired == desired && r.Actual == actual && !r.Pending()
	})
	return r
}

// did is how often the loop has done something with a workspace.
func did(run *process, action, id string) (n int) {
	for line := range strings.Lines(run.stderr.String()) {
		if strings.Contains(line, `"msg":"audit"`) && strings.Contains(line, `"action":"`+action+`"`) &&
			strings.Contains(line, `"workspace":"`+id+`"`) {
			n++
		}
	}
	return n
}

// onlyTheLeaseIsLeft fails the test if something of a workspace is.
func (w *world) onlyTheLeaseIsLeft() {
	w.Helper()
	lease := "lease/" + serve.LeaseName("workspaces-"+w.namespace)
	var left []string
	defer func() {
		if w.Failed() {
			w.Logf("there are %q", left)
		}
	}()
	w.eventually("nothing is left", func() bool {
		left = slices.DeleteFunc(w.leftovers(), func(name string) bool { return name == lease })
		return len(left) == 0
	})
}

// What was recorded before the loop and what is recorded while it runs comes about, each once;
// what commands do by themselves is left to them. The data of the workspace stay, until it is
// deleted.
func TestLoop(t *testing.T) {
	w := newWorld(t)
	w.must(0, "provision", "alice~dev")
	w.must(0, "exec", "alice~dev", "--", "sh", "-c", "echo data > /home/dev/file; sync")
	id := w.idOf("alice~dev")
	run := w.runLoop()
	w.becomes(id, v1.DesiredRunning, v1.ActualRunning)
	kept := func(after string) {
		t.Helper()
		w.becomes(id, v1.DesiredRunning, v1.ActualRunning)
		if r := w.must(0, "exec", "alice~dev", "--", "cat", "/home/dev/file"); r.stdout != "data\n" {
			t.Errorf("after %s there is %q", after, r.stdout)
		}
	}
	w.must(0, "stop", "alice~dev")
	w.must(0, "start", "alice~dev")
	w.must(0, "restart", "alice~dev")
	kept("commands")
	if n := did(run, "start", id) + did(run, "stop", id); n > 0 {
		t.Errorf("the loop has worked %d times on what commands did", n)
	}

	w.wants(id, v1.DesiredStopped)
	w.becomes(id, v1.DesiredStopped, v1.ActualStopped)
	w.contains(w.must(0, "status", "alice~dev").stdout, "Stopped for ")
	w.wants(id, v1.DesiredRunning)
	kept("a start")
	w.wants(id, v1.DesiredRestart)
	kept("a restart")
	if err := w.CoreV1().Pods(w.namespace).Delete(t.Context(), id, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	w.eventually("the pod is started again", func() bool { return did(run, "start", id) == 3 })
	kept("its pod was deleted")
	if starts, stops := did(run, "start", id), did(run, "stop", id); starts != 3 || stops != 2 {
		t.Errorf("it was started %d times and stopped %d times by the loop", starts, stops)
	}
	w.contains(w.must(0, "status", "alice~dev", "--history").stdout, "RestartRequested", "Stopping", "Starting")

	// The storage of a deletion that was to keep it stays.
	_, err := w.recorded().Change(t.Context(), id, func(r lifecycle.Record) (lifecycle.Record, error) {
		r.KeepStorage = true
		return r.Set(v1.DesiredTerminated, time.Now().UTC())
	})
	if err != nil {
		t.Fatal(err)
	}
	w.eventually("it is deleted", func() bool { return w.state(id).ID == "" })
	w.must(7, "status", "alice~dev")
	w.must(0, "provision", "alice~dev")
	if r := w.must(0, "exec", "alice~dev", "--", "cat", "/home/dev/file"); r.stdout != "data\n" {
		t.Errorf("after a deletion that keeps storage there is %q", r.stdout)
	}
	w.becomes(id, v1.DesiredRunning, v1.ActualRunning)
	if n := did(run, "delete", id); n != 1 {
		t.Errorf("it was deleted %d times", n)
	}
	w.must(0, "delete", "alice~dev")
	run.signal(os.Interrupt)
	run.wait().mustBe(w, 0)
	w.onlyTheLeaseIsLeft()
}

// Whatever a command is killed at, the loop completes what it has recorded, or nothing was.
func TestLoopCompletesWhatIsKilled(t *testing.T) {
	t.Parallel()
	for command, every := range map[string]int{"stop": 3, "start": 5, "restart": 8} {
		t.Run(command, func(t *testing.T) {
			w := newWorld(t)
			w.must(0, "provision", "alice~plain")
			id, run := w.idOf("alice~plain"), w.runLoop()
			w.becomes(id, v1.DesiredRunning, v1.ActualRunning)
			for n := 2; ; n += every {
				if command == "start" {
					w.must(0, "stop", "alice~plain")
				} else {
					w.must(0, "start", "alice~plain")
				}
				before := w.state(id)
				if !w.killedAt([]string{command, "alice~plain"}, moment{request: n}) {
					break
				}
				r := w.state(id)
				want := map[v1.DesiredState]v1.ActualState{v1.DesiredStopped: v1.ActualStopped}
				end := v1.DesiredRunning
				if r.Desired == v1.DesiredStopped {
					end = v1.DesiredStopped
				}
				actual, ok := want[end]
				if !ok {
					actual = v1.ActualRunning
				}
				w.becomes(id, end, actual)
				t.Logf("killed at request %d: it was %s, and became %s", n, before, w.state(id))
			}
			w.wants(id, v1.DesiredTerminated)
			w.eventually("it is deleted", func() bool { return w.state(id).ID == "" })
			run.signal(os.Interrupt)
			run.wait().mustBe(w, 0)
			w.onlyTheLeaseIsLeft()
		})
	}
}

// What fails is said at once, with its cause, and is not tried again and again. It can be
// stopped, and ended.
func TestLoopOfWhatFails(t *testing.T) {
	w := newWorld(t)
	users := []string{"alice~crashing", "alice~wrong-tag", "alice~unbindable"}
	for _, user := range users {
		w.must(0, "provision", user, "--no-wait")
	}
	run := w.runLoop()
	for _, user := range users {
		id := w.idOf(user)
		r := w.becomes(id, v1.DesiredRunning, v1.ActualFailed)
		if r.Cause == "" {
			t.Errorf("%s: no cause", r)
		}
		w.wants(id, v1.DesiredStopped)
		w.becomes(id, v1.DesiredStopped, v1.ActualStopped)
		w.wants(id, v1.DesiredRunning)
		w.becomes(id, v1.DesiredRunning, v1.ActualFailed)
		w.wants(id, v1.DesiredRestart)
		w.eventually("it is stopped and started again",
			func() bool { return did(run, "stop", id) == 2 && did(run, "start", id) == 2 })
		w.becomes(id, v1.DesiredRunning, v1.ActualFailed)
		w.wants(id, v1.DesiredTerminated)
		w.eventually("it is deleted", func() bool { return w.state(id).ID == "" })
		if n := did(run, "start", id); n != 2 {
			t.Errorf("%s was started %d times", user, n)
		}
	}
}

// A workload that somebody has deleted is an error that says so, until the workspace is
// deleted.
func TestLoopInWorkload(t *testing.T) {
	w := newWorld(t)
	tg := w.workload("deployment", 1, nil)
	before, user := tg.template(), tg.user("data")
	w.must(0, "provision", user)
	w.must(0, "exec", user, "--", "sh", "-c", "echo data > /data/file; sync")
	id, run := w.idOf(user), w.runLoop()
	w.wants(id, v1.DesiredStopped)
	w.becomes(id, v1.DesiredStopped, v1.ActualStopped)
	if after := tg.template(); after != before {
		t.Errorf("the template was\n%s\nand is\n%s", before, after)
	}
	w.wants(id, v1.DesiredRestart)
	w.becomes(id, v1.DesiredRunning, v1.ActualRunning)
	if r := w.must(0, "exec", user, "--", "cat", "/data/file"); r.stdout != "data\n" {
		t.Errorf("there is %q", r.stdout)
	}
	if err := w.AppsV1().Deployments(w.namespace).Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	r := w.becomes(id, v1.DesiredRunning, v1.ActualError)
	if !strings.Contains(r.Cause, "web") {
		t.Errorf("the cause is %q", r.Cause)
	}
	w.contains(w.must(0, "status", user).stdout, "web")
	w.wants(id, v1.DesiredTerminated)
	w.eventually("it is deleted", func() bool { return w.state(id).ID == "" })
	run.signal(os.Interrupt)
	run.wait().mustBe(w, 0)
}

// Of two loops one works. When that is killed, the other one goes on, and nothing is done
// twice.
func TestTwoLoops(t *testing.T) {
	w := newWorld(t)
	w.must(0, "provision", "alice~plain")
	id := w.idOf("alice~plain")
	runs := []*process{w.runLoop(), w.runLoop()}
	w.becomes(id, v1.DesiredRunning, v1.ActualRunning)
	leads := func(p *process) bool { return strings.Contains(p.stderr.String(), `"leads":true`) }
	w.eventually("one leads", func() bool { return leads(runs[0]) || leads(runs[1]) })
	leader, other := runs[0], runs[1]
	if leads(other) {
		leader, other = other, leader
	}
	if leads(other) {
		t.Fatal("both lead")
	}
	leader.signal(os.Kill)
	leader.wait()
	w.wants(id, v1.DesiredStopped)
	w.becomes(id, v1.DesiredStopped, v1.ActualStopped)
	if did(leader, "stop", id) != 0 || did(other, "stop", id) != 1 {
		t.Errorf("it was stopped %d and %d times", did(leader, "stop", id), did(other, "stop", id))
	}
	lease, err := w.CoordinationV1().Leases(w.namespace).
		Get(t.Context(), serve.LeaseName("workspaces-"+w.namespace), metav1.GetOptions{})
	if err != nil || lease.Spec.LeaseTransitions == nil || *lease.Spec.LeaseTransitions == 0 {
		t.Errorf("%+v, %v", lease, err)
	}
}

// A loop whose lease somebody has taken stops, and goes on when it has the lease again.
func TestLoopLosesItsLease(t *testing.T) {
	w := newWorld(t)
	w.must(0, "provision", "alice~plain")
	id, run := w.idOf("alice~plain"), w.runLoop()
	w.becomes(id, v1.DesiredRunning, v1.ActualRunning)
	leases, name := w.CoordinationV1().Leases(w.namespace), serve.LeaseName("workspaces-"+w.namespace)
	w.eventually("the lease is taken", func() bool {
		lease, err := leases.Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		now := metav1.NewMicroTime(time.Now())
		lease.Spec.HolderIdentity, lease.Spec.RenewTime = new("somebody"), &now
		_, err = leases.Update(t.Context(), lease, metav1.UpdateOptions{})
		return err == nil
	})
	run.waitFor(`"leads":false`)
	w.wants(id, v1.DesiredStopped)
	w.becomes(id, v1.DesiredStopped, v1.ActualStopped)
	if n := did(run, "stop", id); n != 1 {
		t.Errorf("it was stopped %d times", n)
	}
}

// A pod that does not end is neither forgotten nor deleted again and again: a restart goes on
// as soon as it has ended, and so does a deletion.
func TestLoopWithAPodThatDoesNotEnd(t *testing.T) {
	w := newWorld(t)
	w.must(0, "provision", "alice~plain")
	id, run := w.idOf("alice~plain"), w.runLoop()
	w.becomes(id, v1.DesiredRunning, v1.ActualRunning)
	finalizers := func(list string) {
		t.Helper()
		w.kubectl("patch", "pod", id, "--type", "merge", "-p", `{"metadata":{"finalizers":`+list+`}}`)
	}
	finalizers(`["example.com/wait"]`)
	w.wants(id, v1.DesiredRestart)
	w.becomes(id, v1.DesiredRestart, v1.ActualStopping)
	w.contains(w.must(0, "status", id).stdout, "RestartRequested")
	finalizers("null")
	w.becomes(id, v1.DesiredRunning, v1.ActualRunning)

	finalizers(`["example.com/wait"]`)
	w.wants(id, v1.DesiredTerminated)
	w.becomes(id, v1.DesiredTerminated, v1.ActualTerminating)
	run.waitFor(`"action":"delete"`) // it lets the workspace go then
	w.eventually("the loop is not at work on it", func() bool {
		return strings.Contains(w.must(6, "start", id).stderr, "is being deleted")
	})
	finalizers("null")
	w.eventually("it is deleted", func() bool { return w.state(id).ID == "" })
	if stops, starts, deletions := did(run, "stop", id), did(run, "start", id), did(run, "delete", id); stops != 1 ||
		starts != 1 || deletions != 1 {
		t.Errorf("it was stopped %d times, started %d times, deleted %d times", stops, starts, deletions)
	}
}

// While NATS is away nothing is done, and nothing ends. A namespace that somebody has deleted
// is an error that says so, of a workspace that can be deleted all the same.
func TestLoopWithNATS(t *testing.T) {
	w := newWorld(t)
	w.installNATS()
	config := "BERTH_CONFIG=" + w.natsConfig()
	other := newWorldAlone(t)
	other.kubeconfig, other.limited = other.admin, other.config // NATS is reached in another namespace
	berth := func(args ...string) result {
		t.Helper()
		cmd := other.command(args...)
		cmd.Env = append(cmd.Env, config)
		r := other.finish(cmd)
		r.mustBe(other, 0)
		return r
	}
	berth("provision", "alice~plain")
	id := w.idOf("alice~plain")
	cmd := other.loop("--trust-records") // no admission asks who writes to NATS
	cmd.Env = append(cmd.Env, config)
	run := other.launch(cmd)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the loop says:\n%s", run.stderr.String())
		}
	})
	state := func() (s v1.State) {
		t.Helper()
		list := decode[v1.WorkspaceList](other, berth("status", "-o", "json"))
		if len(list.Items) > 0 && list.Items[0].State != nil {
			s = *list.Items[0].State
		}
		return s
	}
	w.eventually("it is adopted", func() bool { return state().Actual == v1.ActualRunning })
	w.scaleNATS(0)
	if err := w.CoreV1().Pods(other.namespace).Delete(t.Context(), id, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	run.waitFor("an exchange failed")
	if did(run, "start", id) != 0 {
		t.Error("it was started, and its desired state is not known")
	}
	w.scaleNATS(1)
	w.waitForNATS()
	w.eventually("it is started again",
		func() bool { return did(run, "start", id) == 1 && state().Actual == v1.ActualRunning })

	if err := w.CoreV1().Namespaces().Delete(t.Context(), other.namespace, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	w.eventually("it is an error", func() bool { return state().Actual == v1.ActualError })
	w.eventually("the namespace is gone", func() bool {
		_, err := w.CoreV1().Namespaces().Get(t.Context(), other.namespace, metav1.GetOptions{})
		return err != nil
	})
	if cause := state().Cause; !strings.Contains(cause, other.namespace) {
		t.Errorf("the cause is %q", cause)
	}
	berth("delete", "alice~plain")
	if s := state(); s.Actual != "" {
		t.Errorf("it is still %+v", s)
	}
}

// An API server that is killed and comes back is waited for. This test runs before the
// parallel ones.
func TestAPIServerRestartsDuringLoop(t *testing.T) {
	restart := restartAPIServer(t)
	w := newWorldAlone(t)
	w.must(0, "provision", "alice~plain")
	id, run := w.idOf("alice~plain"), w.runLoop()
	w.becomes(id, v1.DesiredRunning, v1.ActualRunning)
	w.wants(id, v1.DesiredRestart)
	restart()
	w.becomes(id, v1.DesiredRunning, v1.ActualRunning)
	w.wants(id, v1.DesiredStopped)
	w.becomes(id, v1.DesiredStopped, v1.ActualStopped)
	run.signal(os.Interrupt)
	run.wait().mustBe(w, 0)
}
