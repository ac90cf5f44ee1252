//go:build e2e

package e2e

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/rbac"
)

// What is in the storage of a workspace survives that it is stopped, started and restarted;
// what comes up is what it was made of, whatever the blueprint says now.
func TestStopAndStart(t *testing.T) {
	w := newWorld(t)
	w.must(0, "provision", "alice~dev", "--image", "registry.example.com/berth/workspace:v1", "--set", "env.KEPT=yes")
	w.must(0, "exec", "alice~dev", "--", "sh", "-c", "echo data > /home/dev/file; sync")
	id := w.idOf("alice~dev")

	stop := decode[v1.Stop](w, w.must(0, "stop", "alice~dev", "-o", "json"))
	if !stop.Stopped || stop.Already || stop.UserString != "alice~dev" || w.pod(id) != nil {
		t.Errorf("%+v", stop)
	}
	if again := decode[v1.Stop](w, w.must(0, "stop", id, "-o", "json")); !again.Already {
		t.Errorf("%+v", again)
	}
	list := decode[v1.WorkspaceList](w, w.must(0, "status", "-o", "json"))
	if len(list.Items) != 1 || list.Items[0].Stage != v1.StageStopped || list.Items[0].Owner != "alice" ||
		list.Items[0].State.Desired != v1.DesiredStopped {
		t.Errorf("%+v", list)
	}
	w.contains(w.must(0, "status", "alice~dev").stdout, "Stopped for ", "berth start alice~dev")
	w.contains(w.must(125, "exec", "alice~dev", "--", "true").stderr, "workspace "+id+" is stopped",
		"berth start alice~dev")

	kept := func(command ...string) {
		t.Helper()
		w.must(0, command...)
		if r := w.must(0, "exec", "alice~dev", "--", "sh", "-c",
			"cat /home/dev/file; echo $KEPT"); r.stdout != "data\nyes\n" {
			t.Errorf("after berth %s there is %q", strings.Join(command, " "), r.stdout)
		}
	}
	kept("start", "alice~dev")
	w.onlyOneRelease(id)
	kept("start", id)
	before := w.pod(id).UID
	kept("restart", "alice~dev")
	if w.pod(id).UID == before {
		t.Error("it was not restarted")
	}
	w.must(0, "stop", "--owner", "alice")
	r := w.must(0, "provision", "alice~dev")
	w.contains(r.stderr, "keeps the settings that it was created with", "env")
	kept("exec", "alice~dev", "--", "true")
	w.must(0, "stop", "alice~dev")
	kept("exec", "alice~dev", "--provision", "--", "true")
	w.must(0, "stop", "alice~dev", "--no-wait")
	kept("restart", "alice~dev")

	if err := w.CoreV1().Pods(w.namespace).Delete(t.Context(), id, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	w.eventually("the pod is gone", func() bool { return w.pod(id) == nil })
	kept("start", "alice~dev")

	// Storage that somebody has deleted is not missed without a word.
	w.must(0, "stop", "alice~dev")
	w.kubectl("delete", "pvc", "pvc-"+id+"-home")
	w.contains(w.must(0, "start", "alice~dev").stderr, "storage home is new and empty: somebody has deleted its claim")
	w.must(0, "stop", "alice~dev")
	if r := w.must(0, "start", "alice~dev"); strings.Contains(r.stderr, "new and empty") {
		t.Errorf("it is said twice: %s", r.stderr)
	}

	w.must(0, "stop", "alice~dev")
	w.must(0, "delete", "alice~dev")
	w.nothingIsLeft()
	w.must(7, "start", "alice~dev")
}

// A workspace in a workload is taken out of it, and put back; its ID is enough to name it.
func TestStopInWorkload(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"deployment", "statefulset", "daemonset"} {
		t.Run(kind, func(t *testing.T) {
			w := newWorld(t)
			tg := w.workload(kind, 1, nil)
			before, user := tg.template(), tg.user("data")
			w.must(0, "provision", user)
			id := w.idOf(user)
			w.must(0, "exec", user, "--", "sh", "-c", "echo data > /data/file; sync")
			w.must(0, "stop", user)
			if after := tg.template(); after != before {
				t.Errorf("the template was\n%s\nand is\n%s", before, after)
			}
			shown := decode[v1.Workspace](w, w.must(0, "status", id, "-o", "json"))
			if shown.Stage != v1.StageStopped || shown.Owner != "alice" || shown.Workload != kind+"/web" {
				t.Errorf("%+v", shown)
			}
			w.contains(w.must(125, "exec", user, "--", "true").stderr, "is stopped")
			w.must(0, "stop", id)
			w.must(0, "start", id)
			if r := w.must(0, "exec", user, "--", "cat", "/data/file"); r.stdout != "data\n" {
				t.Errorf("there is %q", r.stdout)
			}
			w.must(0, "restart", user)
			if r := w.must(0, "exec", user, "--", "cat", "/data/file"); r.stdout != "data\n" {
				t.Errorf("after a restart there is %q", r.stdout)
			}
			w.must(0, "stop", user)
			w.must(0, "delete", id)
			tg.clean(before)
		})
	}
}

// What does not work can be stopped, and fails again when it is started.
func TestStopOfWhatFails(t *testing.T) {
	w := newWorld(t)
	for user, says := range map[string]string{
		"alice~crashing": "CrashLoop", "alice~wrong-tag": "ImageNotFound", "alice~unbindable": "unbindable",
	} {
		failed := decode[v1.Error](w, w.must(3, "provision", user, "-o", "json"))
		w.must(0, "stop", user)
		if shown := decode[v1.Workspace](w, w.must(0, "status", user, "-o", "json")); shown.Stage != v1.StageStopped {
			t.Errorf("%s (%s): %+v", user, says, shown)
		}
		again := decode[v1.Error](w, w.must(3, "start", user, "-o", "json"))
		if again.Workspace.Cause == nil || again.Workspace.Cause.Code != failed.Workspace.Cause.Code {
			t.Errorf("%s: %+v", user, again)
		}
		state := decode[v1.Workspace](w, w.must(0, "status", user, "-o", "json")).State
		if state == nil || state.Desired != v1.DesiredRunning || state.Actual != v1.ActualFailed || state.Cause == "" {
			t.Errorf("%s: %+v", user, state)
		}
		w.must(0, "delete", user)
	}
	w.nothingIsLeft()
}

// A stop takes eight requests until the pod is deleted and fourteen in all, renewals of the
// lock apart. A start takes those of a provisioning and one more, which records that it is
// started; how often the record of a job is written depends on time, and is not counted.
func TestRequestsOfStop(t *testing.T) {
	w := newWorld(t)
	counted := func(args ...string) (until, all int64) {
		t.Helper()
		var n, deleted atomic.Int64
		w.finish(w.through(args, func(out http.ResponseWriter, r *http.Request, next http.Handler) {
			isLock := r.Method == http.MethodPut && strings.Contains(r.URL.Path, "/leases/")
			isJob := strings.Contains(r.URL.Path, "/k8shell-job-") || r.Method == http.MethodDelete &&
				strings.HasSuffix(r.URL.Path, "/configmaps") // those that expired
			if !isLock && !isJob {
				n.Add(1)
			}
			if r.Method == http.MethodDelete && strings.Contains(r.URL.Path, "/pods/") {
				deleted.Store(n.Load())
			}
			next.ServeHTTP(out, r)
		})).mustBe(w, 0)
		return deleted.Load(), n.Load()
	}
	_, provision := counted("provision", "alice~plain")
	for range 2 { // the first one takes the workspace up
		until, stop := counted("stop", "alice~plain")
		_, start := counted("start", "alice~plain")
		t.Logf("provision takes %d requests, stop %d and %d, start %d", provision, until, stop, start)
		if until > 8 || stop > 14 || start > provision+1 {
			t.Error("that is more than it may be")
		}
	}
}

// States are in NATS if that is configured, and nowhere else: while it is away nothing is
// started or stopped, and what cannot be seen is said.
func TestStatesInNATS(t *testing.T) {
	w := newWorld(t)
	w = w.as(w.role(rbac.Developer()), w.role(rbac.Named(rbac.JobsInNATS)))
	w.installNATS()
	config := w.natsConfig()
	berth := func(status int, args ...string) result {
		t.Helper()
		cmd := w.command(args...)
		cmd.Env = append(cmd.Env, "BERTH_CONFIG="+config)
		r := w.finish(cmd)
		r.mustBe(w, status)
		return r
	}
	berth(0, "provision", "alice~plain")
	berth(0, "stop", "alice~plain")
	maps, err := w.CoreV1().ConfigMaps(w.namespace).List(t.Context(),
		metav1.ListOptions{LabelSelector: lifecycle.Label})
	if err != nil || len(maps.Items) > 0 {
		t.Errorf("%d states are in the cluster, %v", len(maps.Items), err)
	}
	w.contains(berth(0, "status").stdout, "Stopped")
	w.scaleNATS(0)
	w.contains(berth(8, "start", "alice~plain").stderr, "UNAVAILABLE", "NATS")
	w.contains(berth(0, "status").stderr, "not all workspaces without a pod are listed", "NATS")
	if w.pod(w.idOf("alice~plain")) != nil {
		t.Error("it was started")
	}
	w.scaleNATS(1)
	w.waitForNATS()
	berth(0, "start", "alice~plain")
	berth(0, "delete", "alice~plain")
}

// A start that another one has overtaken, between its look at the workspace and its lock,
// finds that out by Helm's record, and leaves the pod that runs by then.
func TestStartIsOvertaken(t *testing.T) {
	w := newWorld(t)
	w.must(0, "provision", "alice~plain")
	w.must(0, "stop", "alice~plain")
	var once sync.Once
	var overtaking result
	var uid types.UID
	w.finish(w.through([]string{"start", "alice~plain"},
		func(out http.ResponseWriter, r *http.Request, next http.Handler) {
			if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/leases") {
				once.Do(func() {
					if overtaking = w.berth("start", "alice~plain"); overtaking.status == 0 {
						uid = w.pod(w.idOf("alice~plain")).UID
					}
				})
			}
			next.ServeHTTP(out, r)
		})).mustBe(w, 0)
	overtaking.mustBe(w, 0)
	if now := w.pod(w.idOf("alice~plain")).UID; now != uid {
		t.Errorf("the pod was %s and is %s", uid, now)
	}
}
