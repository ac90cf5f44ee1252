//go:build linux && !race

package chart_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/berthdev/berth/internal/chart"
	"github.com/berthdev/berth/internal/fault"
)

// What a rendering may take in a process of its own, which has the garbage collector of a
// server: the limit of its pod, and the time with what a single call may add to it.
const (
	mostMemory = 512 << 20
	hardLimit  = 2 << 30          // so that a defect does not take this machine down
	mostTime   = 12 * time.Second // beyond its time, on one core among many tests
)

// The variables of the process that renders.
const (
	envCharts = "BERTH_TEST_RENDER"   // what to render: attacks, calls or programs
	envFrom   = "BERTH_TEST_PROGRAMS" // the number of programs, of an ordinary test if it is empty
)

// report is what became of one chart.
type report struct {
	Name, Error string
	Code        fault.Code
	Peak        int64         // bytes
	Took        time.Duration // beyond its time
}

func TestMain(m *testing.M) {
	switch os.Getenv(envCharts) {
	case "attacks":
		renderAll(attacks(), 10*time.Second)
	case "calls":
		renderAll(calls(), 2*time.Second)
	case "programs":
		renderAll(programs(count()), time.Second)
	default:
		os.Exit(m.Run())
	}
}

// renderAll renders charts, and says of each on standard output what it has taken.
func renderAll(charts map[string]func() fstest.MapFS, limit time.Duration) {
	if err := syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: hardLimit, Max: hardLimit}); err != nil {
		panic(err)
	}
	for _, name := range slices.Sorted(maps.Keys(charts)) {
		fsys := charts[name]()
		debug.FreeOSMemory()
		if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil { // the peak begins again
			panic(err)
		}
		fmt.Fprintln(os.Stderr, "rendering", name)
		limit := limit
		if strings.HasPrefix(name, "time: ") {
			limit = 200 * time.Millisecond // which they all take
		}
		r, begun := report{Name: name}, time.Now()
		_, err := chart.Load(context.Background(), fsys, chart.Options{Time: limit})
		r.Took, r.Peak = time.Since(begun)-limit, peak()
		if f, ok := errors.AsType[*fault.Error](err); ok {
			r.Error, r.Code = strings.Join(append([]string{f.Error()}, f.Problems...), "; "), f.Code
		} else if err != nil {
			r.Error = err.Error()
		}
		text, _ := json.Marshal(r)
		fmt.Println(string(text))
	}
}

// peak is the most memory that this process has had.
func peak() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		panic(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	kib, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	if err != nil {
		panic(err)
	}
	return kib << 10
}

// inProcess renders charts in a process of its own.
func inProcess(t *testing.T, which string) (reports []report) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), envCharts+"="+which, "GOMEMLIMIT=448MiB")
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		lines := strings.Split(said.String(), "\n")
		last := slices.IndexFunc(lines,
			func(line string) bool { return strings.HasPrefix(line, "fatal") || strings.HasPrefix(line, "panic") })
		t.Errorf("the process has ended: %v: %s", err,
			strings.Join(lines[max(0, last-2):min(len(lines), max(0, last)+3)], "\n"))
	}
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		var r report
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		reports = append(reports, r)
	}
	return reports
}

// check checks what every chart has to keep to.
func (r report) check(t *testing.T) {
	t.Helper()
	t.Logf("%s: %d MiB, %s, %s %s", r.Name, r.Peak>>20, r.Took.Round(time.Millisecond), r.Code,
		fault.Shorten(r.Error, 300))
	if r.Peak > mostMemory {
		t.Errorf("%s took %d MiB", r.Name, r.Peak>>20)
	}
	if r.Took > mostTime {
		t.Errorf("%s took %s", r.Name, r.Took)
	}
	if r.Error != "" && r.Code != fault.InvalidArgument && r.Code != fault.Failed {
		t.Errorf("%s ends with %q: %s", r.Name, r.Code, r.Error)
	}
}

// Charts that are made to take a server down end with an error, in time and within the memory
// of its pod.
func TestAttacks(t *testing.T) {
	t.Parallel()
	reports := inProcess(t, "attacks")
	if len(reports) != len(attacks()) {
		t.Errorf("%d of %d charts", len(reports), len(attacks()))
	}
	for _, r := range reports {
		r.check(t)
	}
}

// Whatever values a function is given, it ends as well.
func TestCalls(t *testing.T) {
	t.Parallel()
	reports := inProcess(t, "calls")
	if len(reports) != len(calls()) {
		t.Errorf("%d of %d charts", len(reports), len(calls()))
	}
	for _, r := range reports {
		r.check(t)
	}
}
