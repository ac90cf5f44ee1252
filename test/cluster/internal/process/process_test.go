package process

import (
	"os/exec"
	"slices"
	"testing"
	"time"
)

func TestKill(t *testing.T) {
	cmd := exec.Command("sleep", "86399.5")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid := cmd.Process.Pid
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
	// Nobody waits for it yet, so it stays as a zombie: gone all the same.
	if err := Kill(pid, HasArgs(cmd.Args), 5*time.Second); err != nil {
		t.Fatal(err)
	}
	if found, err := Find(cmd.Args); err != nil || len(found) != 0 {
		t.Errorf("found %v, %v after it was killed", found, err)
	}
	_ = cmd.Wait() // killed
}
