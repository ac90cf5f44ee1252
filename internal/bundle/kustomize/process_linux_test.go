package kustomize_test

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/berthdev/berth/internal/bundle/kustomize"
	"github.com/berthdev/berth/internal/waittest"
)

// envSlow has the test binary build what takes long.
const envSlow = "BERTH_TEST_SLOW"

// laborious takes minutes, and little memory: many objects, of which each of many kustomizations changes the names.
func laborious() map[string]string {
	files := map[string]string{}
	for i := range 40 {
		files[fmt.Sprintf("c%d/kustomization.yaml", i)] = fmt.Sprintf("namePrefix: a\nresources: [../c%d]\n", i+1)
	}
	var objects strings.Builder
	for i := range 6000 {
		fmt.Fprintf(&objects, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a%d}\n", i)
	}
	files["kustomization.yaml"] = "resources: [c0]\n"
	files["c40/kustomization.yaml"], files["c40/a.yaml"] = "resources: [a.yaml]\n", objects.String()
	return files
}

// state is what the system says of a process, and for how long it has worked, in hundredths of a second; empty for one
// that has ended.
func state(pid string) (state string, worked int) {
	text, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return "", 0
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 12 || fields[0] == "Z" {
		return "", 0
	}
	worked, _ = strconv.Atoi(fields[11])
	return fields[0], worked
}

// children are the processes that one has started.
func children(pid int) (all []string) {
	threads, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	for _, thread := range threads {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, thread.Name()))
		all = append(all, strings.Fields(string(text))...)
	}
	return all
}

// A process that builds ends with the one that has started it, even if that is killed.
func TestWorkersEndWithTheirServer(t *testing.T) {
	if os.Getenv(envSlow) != "" {
		limits := kustomize.Limits{Time: time.Hour, Memory: 1 << 30}
		text, err := kustomize.Build(t.Context(), content(laborious()), limits)
		t.Fatal(len(text), err)
	}
	cmd := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), envSlow+"=1")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var workers []string
	waittest.Until(t, "the process that builds, and has all that it takes for that", func() bool {
		workers = children(cmd.Process.Pid)
		return slices.ContainsFunc(workers, func(pid string) bool {
			_, worked := state(pid)
			return worked > 100
		})
	})
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	for _, pid := range workers {
		waittest.Until(t, "the end of process "+pid, func() bool {
			state, _ := state(pid)
			return state == ""
		})
	}
}
