package process

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"testing"
	"time"
)

func TestKill(t *testing.T) {
	cmd := exec.Command("sleep", fmt.Sprintf("86399.%d", os.Getpid())) // unlike any other process
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid := cmd.Process.Pid
	started(t, cmd.Args)
	if err := Kill(pid, HasArgs([]string{"sleep", "another"}), time.Second); err != nil {
		t.Fatal(err)
	}
	found, err := Find(cmd.Args)
	if err != nil || !slices.Equal(found, []int{pid}) {
		t.Fatalf("found %v, %v; want %d, which has other arguments than those to kill", found, err, pid)
	}
	start, err := StartTime(pid)
	if err != nil || !StartedAt(start)(pid) || StartedAt(start+"0")(pid) {
		t.Errorf("not recognized by its start time %q: %v", start, err)
	}
	// It is not waited for yet, so it stays as a zombie, which counts as gone.
	if err := Kill(pid, HasArgs(cmd.Args), time.Minute); err != nil {
		t.Fatal(err)
	}
	if found, err := Find(cmd.Args); err != nil || len(found) != 0 {
		t.Errorf("found %v, %v after it was killed", found, err)
	}
	_ = cmd.Wait() // killed
}

// started waits until the arguments of a new process can be read: for a moment
// after it took over from its parent, Linux shows none.
func started(t *testing.T, args []string) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		found, err := Find(args)
		if err != nil {
			t.Fatal(err)
		}
		if len(found) > 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("no process with the arguments %q", args)
		}
		runtime.Gosched()
	}
}
