//go:build unix

// Package startup guards what every start of berth costs: the size of the
// program, its memory and its time, compared with a trivial program with the
// same client-go that is built beside it.
//
// A package that is linked is initialized at every start, whether it is used
// or not. GODEBUG=inittrace=1 berth version shows which ones take what.
package startup

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// The limits, with room for a busy machine and some features: 40 MiB here, and five megabytes of program. kubectl has
// 60 MB and is at 2.4 and 5.3 times the trivial program. docs/design/dependencies.md says what brings how much along,
// and why one call of text/template would bring 20 MB.
const (
	mostMegabytes   = 65   // 60.7
	mostMemory      = 2.35 // 2.28 to 2.31: how the file lies in the system's cache moves it
	mostInitialized = 2.3  // 2.26
)

// runs is how often each program is started.
const runs = 20

func TestStart(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and measures programs: make test-startup")
	}
	berth, trivial := build(t, "../../cmd/berth"), build(t, "./trivial")
	if size := float64(berth.size) / 1e6; size > mostMegabytes {
		t.Errorf("the stripped program has %.1f MB, at most %d are wanted", size, mostMegabytes)
	} else {
		t.Logf("the stripped program has %.1f MB", size)
	}
	// One after the other in turn, so that a busy moment hits both.
	for range runs {
		berth.start(t, "version")
		trivial.start(t)
	}
	// The least of many is what the program itself takes: other programs on the
	// machine only ever add to it. Ratios hold on fast and slow machines.
	compare(t, "memory", least(berth.memory), least(trivial.memory), mostMemory)
	// How much is allocated before main does not depend on the machine at all.
	compare(t, "memory that is initialized", berth.initialized(t, "version"), trivial.initialized(t), mostInitialized)
	// Times are for anyone who reads them: make bench measures them, on a quiet machine.
	t.Logf("processor time: %.2f times that of the trivial program",
		float64(least(berth.time))/float64(least(trivial.time)))
	t.Logf("the start takes %s, that of the trivial program %s", time.Duration(least(berth.elapsed)),
		time.Duration(least(trivial.elapsed)))
}

func compare(t *testing.T, what string, berth, trivial int64, most float64) {
	t.Helper()
	ratio := float64(berth) / float64(trivial)
	t.Logf("%s: %d to %d, %.2f times that of the trivial program", what, berth, trivial, ratio)
	if ratio > most {
		t.Errorf("%s: %.2f times that of a trivial program with client-go, at most %.2f are wanted", what, ratio, most)
	}
}

func least(values []int64) int64 { return slices.Min(values) }

// program is one that is measured: the peak of its memory as the system counts
// it, its processor time and the time that passes, of each start.
type program struct {
	path                  string
	size                  int64
	memory, time, elapsed []int64
}

// build makes a program as a release is made. What is measured is a copy: how
// the linker lays a file into the system's cache decides how much of it counts
// as the program's memory.
func build(t *testing.T, dir string) *program {
	t.Helper()
	linked := filepath.Join(t.TempDir(), "program")
	cmd := exec.Command("go", "build", "-tags", "grpcnotrace", "-trimpath", "-ldflags", "-s -w", "-o", linked, dir)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", dir, err, out)
	}
	p := &program{path: linked + "-copy"}
	in, err := os.Open(linked)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(p.path, os.O_CREATE|os.O_WRONLY, 0o700)
	if err != nil {
		t.Fatal(err)
	}
	if p.size, err = io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *program) start(t *testing.T, args ...string) {
	t.Helper()
	cmd := exec.Command(p.path, args...)
	begun := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	p.elapsed = append(p.elapsed, int64(time.Since(begun)))
	usage, _ := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	p.memory = append(p.memory, usage.Maxrss)
	p.time = append(p.time, int64(cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime()))
}

var initTrace = regexp.MustCompile(`(?m)^init \S+ @.* (\d+) bytes, \d+ allocs$`)

// initialized is how many bytes are allocated before main.
func (p *program) initialized(t *testing.T, args ...string) (bytes int64) {
	t.Helper()
	cmd := exec.Command(p.path, args...)
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	packages := initTrace.FindAllSubmatch(out, -1)
	if len(packages) < 100 {
		t.Fatalf("only %d packages report what they initialize:\n%s", len(packages), out)
	}
	for _, found := range packages {
		n, _ := strconv.ParseInt(string(found[1]), 10, 64)
		bytes += n
	}
	return bytes
}
