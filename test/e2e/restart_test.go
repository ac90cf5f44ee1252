//go:build e2e

package e2e

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// clusterVariable names the state directory of the test cluster, if it is ours to
// restart its daemons.
const clusterVariable = "BERTH_TEST_CLUSTER"

// restartAPIServer kills the API server and starts it again, where that may be done.
func restartAPIServer(t *testing.T) func() {
	t.Helper()
	dir := os.Getenv(clusterVariable)
	if dir == "" {
		t.Skipf("%s is not set: the API server of a cluster in use must not be killed", clusterVariable)
	}
	return func() {
		t.Helper()
		restart := exec.Command("go", "run", ".", "--dir", dir, "restart", "kube-apiserver")
		restart.Dir = "../cluster"
		if out, err := restart.CombinedOutput(); err != nil {
			t.Fatalf("restart: %v\n%s", err, out)
		}
	}
}

// Provisioning survives an API server that is killed and comes back, and ends with
// the right verdict. This test runs before the others, which the outage would
// break: it is the only one that is not parallel.
func TestAPIServerRestartsDuringProvisioning(t *testing.T) {
	restart := restartAPIServer(t)
	w := newWorldAlone(t)
	for user, status := range map[string]int{"alice~gated": 0, "alice~crashing": 3} {
		run := w.start("provision", user)
		if status == 0 {
			run.waitFor("stage Starting")
		} else {
			run.waitFor("step install")
		}
		restart()
		if status == 0 {
			w.open(user)
		}
		r := run.wait()
		r.mustBe(w, status)
		w.must(0, "diagnose", user)
	}
	w.must(0, "exec", "alice~gated", "--", "true")
}

// A session cannot go on without the API server that it goes through: it ends at once,
// and says so. The shell at a terminal is hung up, with what runs in it, though nobody
// comes back for it. It runs before the parallel ones, too.
func TestAPIServerRestartEndsSessions(t *testing.T) {
	restart := restartAPIServer(t)
	w := newWorldAlone(t)
	w.must(0, "provision", "alice~plain")
	at := w.sit(w.command("exec", "alice~plain"))
	at.sees("# ")
	w.eventually("its shell is watched",
		func() bool { return strings.Contains(w.processes("alice~plain"), "berth-hangup") })
	at.types("sleep 1006\n")
	w.eventually("it sleeps", func() bool { return strings.Contains(w.processes("alice~plain"), "sleep 1006") })
	run := w.start("exec", "alice~plain", "--", "sh", "-c", "echo begun; sleep 600")
	run.waitForLine("begun")
	restart()
	const says = "the connection to the API server was lost, and with it the command in workspace"
	w.contains(strings.Join(strings.Fields(at.ends(125)), " "), says, "(UNAVAILABLE)")
	r := run.wait()
	r.mustBe(w, 125)
	w.contains(r.stderr, says)
	left := ""
	w.eventually("the shell is hung up", func() bool {
		left = w.processes("alice~plain")
		return !strings.Contains(left, "sleep 1006") && !strings.Contains(left, "sh -l") &&
			!strings.Contains(left, "berth-hangup")
	})
	w.contains(left, "sleep 600") // a command is told nothing
}
