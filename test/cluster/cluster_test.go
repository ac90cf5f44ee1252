//go:build linux

package main

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/berthdev/berth/test/cluster/internal/cgroup"
	"github.com/berthdev/berth/test/cluster/internal/instance"
	"github.com/berthdev/berth/test/cluster/internal/settings"
)

// driver runs the built program on one state directory.
type driver struct {
	program, dir string
}

func (d driver) command(args ...string) *exec.Cmd {
	return exec.Command(d.program, append([]string{"--dir", d.dir}, args...)...)
}

// run returns what the command prints on standard output.
func (d driver) run(t *testing.T, args ...string) string {
	t.Helper()
	out, err := d.try(args...)
	if err != nil {
		t.Fatalf("cluster %s: %v", strings.Join(args, " "), err)
	}
	return out
}

func (d driver) try(args ...string) (string, error) {
	cmd := d.command(args...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return string(out), &exec.Error{Name: errs.String(), Err: err}
	}
	return string(out), nil
}

// gone fails unless nothing of the cluster is left.
func (d driver) gone(t *testing.T) {
	t.Helper()
	if left := processes(t, d.dir); len(left) > 0 {
		t.Errorf("processes left behind: %v", left)
	}
	left, err := filepath.Glob(d.dir + "*")
	check(t, err)
	if len(left) > 0 {
		t.Errorf("files left behind: %v", left)
	}
	exists, err := cgroup.Exists(d.cgroup())
	check(t, err)
	if exists {
		t.Errorf("control group %s left behind", d.cgroup())
	}
}

func (d driver) cgroup() string { return settings.Cluster{ID: instance.ID(d.dir)}.CgroupRoot() }

// setUp builds the program and names two instances, which go down at the end
// whatever happens.
func setUp(t *testing.T) (first, second driver) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("running a cluster takes root")
	}
	if testing.Short() {
		t.Skip("starting two clusters takes most of a minute, and building Kubernetes a few more the first time: " +
			"not in short mode")
	}
	base := t.TempDir()
	program := filepath.Join(base, "cluster")
	out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput()
	if err != nil {
		t.Fatalf("build the driver: %v\n%s", err, out)
	}
	first, second = driver{program, filepath.Join(base, "first")}, driver{program, filepath.Join(base, "second")}
	t.Cleanup(func() {
		for _, d := range []driver{first, second} {
			if _, err := d.try("down"); err != nil {
				t.Error(err)
			}
		}
	})
	return first, second
}

func TestCluster(t *testing.T) {
	first, second := setUp(t)
	first.run(t, "down") // nothing is up, which is fine
	before := lookAtMachine(t)

	var both sync.WaitGroup
	for _, d := range []driver{first, second} {
		both.Go(func() {
			if _, err := d.try("up"); err != nil {
				t.Errorf("up: %v", err)
			}
		})
	}
	both.Wait()
	if t.Failed() {
		t.FailNow()
	}
	before.same(t, lookAtMachine(t))

	t.Run("up again is harmless", func(t *testing.T) { upAgain(t, first) })
	t.Run("pods run", func(t *testing.T) { podsRun(t, first) })
	t.Run("killed daemons come back", func(t *testing.T) { daemonsComeBack(t, first) })
	t.Run("down leaves nothing", func(t *testing.T) {
		first.run(t, "down")
		first.gone(t)
	})
	t.Run("the other one still works", func(t *testing.T) { podsRun(t, second) })
	t.Run("a killed cluster comes back", func(t *testing.T) { clusterComesBack(t, second) })
	t.Run("down after a killed up", func(t *testing.T) { downAfterKilledUp(t, first) })
	second.run(t, "down")
	second.gone(t)
	before.same(t, lookAtMachine(t))
}

func upAgain(t *testing.T, d driver) {
	before := processes(t, d.dir)
	out := d.run(t, "up")
	if after := processes(t, d.dir); !maps.Equal(before, after) {
		t.Errorf("the processes %v became %v", before, after)
	}
	if want := "export KUBECONFIG=" + filepath.Join(d.dir, "kubeconfig") + "\n"; out != want {
		t.Errorf("up printed %q, want %q", out, want)
	}
}

func clusterComesBack(t *testing.T, d driver) {
	kubeconfig, err := os.ReadFile(filepath.Join(d.dir, "kubeconfig"))
	check(t, err)
	kill(t, d, "supervise")
	d.run(t, "up")
	after, err := os.ReadFile(filepath.Join(d.dir, "kubeconfig"))
	check(t, err)
	if !bytes.Equal(kubeconfig, after) {
		t.Error("the kubeconfig changed, so earlier copies no longer work")
	}
	podsRun(t, d)
}

// downAfterKilledUp kills the driver at a point where all sorts of things have
// been started but are not ready yet.
func downAfterKilledUp(t *testing.T, d driver) {
	up := d.command("up")
	check(t, up.Start())
	eventually(t, "etcd starts", func() bool { return processes(t, d.dir)["etcd"] != 0 })
	check(t, up.Process.Kill())
	_ = up.Wait() // killed
	d.run(t, "down")
	d.gone(t)
}

// kill ends a daemon of the cluster the hard way.
func kill(t *testing.T, d driver, name string) {
	t.Helper()
	pid, ok := processes(t, d.dir)[name]
	if !ok {
		t.Fatalf("no %s is running", name)
	}
	check(t, syscall.Kill(pid, syscall.SIGKILL))
}

// patience is how long a test waits for anything before it gives up. It is
// not a target: a machine may be busy.
const patience = 3 * time.Minute

func eventually(t *testing.T, what string, met func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !met(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within %s", what, patience)
		}
	}
}
