//go:build linux

package pod

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	remote "github.com/berthdev/berth/internal/exec"
)

// sleeper is a process that sleeps, and a channel with the signal that ended it.
func sleeper(t *testing.T) (pid int, ended <-chan syscall.Signal) {
	t.Helper()
	// Under nohup it would ignore the signal: one that is caught here it does not.
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(caught) })
	cmd := exec.Command("sleep", "1000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	signals := make(chan syscall.Signal, 1)
	go func() {
		_ = cmd.Wait()
		signals <- cmd.ProcessState.Sys().(syscall.WaitStatus).Signal()
	}()
	return cmd.Process.Pid, signals
}

// watcher is the script that watches a process, its input, and what it prints.
func watcher(t *testing.T, pid int, grace time.Duration, old []string) (in io.Closer, says []string,
	wait func() error,
) {
	t.Helper()
	command := hangup(pid, grace, old)
	cmd := exec.Command(command[0], command[1:]...) //nolint:gosec // it is the script
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	buffer := make([]byte, 100)
	n, _ := stdout.Read(buffer)
	_, _ = io.WriteString(stdin, "\n") // a sign of life
	return stdin, strings.Fields(string(buffer[:n])), cmd.Wait
}

// A shell whose watch has nobody any more is hung up; one that has ended is left alone, as
// is one whose PID has another process now.
func TestHangUp(t *testing.T) {
	pid, ended := sleeper(t)
	in, says, wait := watcher(t, pid, 0, nil)
	if len(says) != 2 {
		t.Fatalf("it says %q", says)
	}
	select {
	case <-ended:
		t.Fatal("it was hung up while its watch has an input")
	default:
	}
	_ = in.Close()
	if got := <-ended; got != syscall.SIGHUP {
		t.Errorf("ended by %s", got)
	}
	if err := wait(); err != nil {
		t.Error(err)
	}
	if _, says, _ := watcher(t, 1<<30, 0, nil); len(says) != 0 {
		t.Errorf("of no process it says %q", says)
	}
}

// A watch takes the place of one that was lost, whose shell goes on; it ends no other
// process that has the PID now.
func TestWatchIsReplaced(t *testing.T) {
	pid, ended := sleeper(t)
	lost, old, wait := watcher(t, pid, 1000*time.Second, nil)
	_ = lost.Close()
	_, _, _ = watcher(t, pid, 0, old)
	if err := wait(); err == nil || !strings.Contains(err.Error(), "terminated") {
		t.Errorf("the first one: %v", err)
	}
	select {
	case <-ended:
		t.Error("it was hung up")
	default:
	}
	other, otherEnded := sleeper(t)
	_, _, _ = watcher(t, pid, 0, []string{strconv.Itoa(other), "1"})
	select {
	case <-otherEnded:
		t.Error("another process was ended")
	default:
	}
}

// Beside a shell with a terminal runs its watch, until the shell ends, and without one it
// goes on all the same; beside any other there is none.
func TestHungUp(t *testing.T) {
	for name, c := range map[string]struct {
		tty     bool
		missing bool // whether the container has no sh
		want    string
	}{
		"at a terminal": {tty: true, want: "$ "},
		"no watch":      {tty: true, missing: true, want: "$ "},
		"no terminal":   {want: "$ "},
	} {
		t.Run(name, func(t *testing.T) {
			var watching sync.WaitGroup
			begun := make(chan []string, 1)
			run := func(ctx context.Context, command []string, s remote.Session) (int, error) {
				if command[3] == "berth-hangup" {
					watching.Add(1)
					defer watching.Done()
					begun <- command
					if c.missing {
						return 0, io.ErrUnexpectedEOF
					}
					_, _ = io.WriteString(s.Stdout, "7 100\n")
					<-ctx.Done()
					return 0, ctx.Err()
				}
				if strings.HasPrefix(command[2], announce) != c.tty {
					t.Errorf("the shell is %q", command[2])
				}
				if c.tty {
					_, _ = io.WriteString(s.Stdout, announceBegin+"42"+announceEnd)
					if watch := <-begun; watch[4] != "42" {
						t.Errorf("the watch is %q", watch[3:])
					}
				}
				_, _ = io.WriteString(s.Stdout, "$ ")
				return 3, nil
			}
			var out strings.Builder
			status, err := HungUp(run)(t.Context(), Login{}.Shell(), remote.Session{TTY: c.tty, Stdout: &out})
			if status != 3 || err != nil || out.String() != c.want {
				t.Errorf("%d, %v, %q", status, err, &out)
			}
			watching.Wait()
		})
	}
}

// A watch that is lost is started again, and ends the one before; one that has ended by itself
// has nothing to watch any more.
func TestLostWatchIsStartedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var begun [][]string
		accompany(t.Context(), func(_ context.Context, command []string, s remote.Session) (int, error) {
			begun = append(begun, command[4:])
			if len(begun) == 3 {
				return 0, nil
			}
			_, _ = fmt.Fprintf(s.Stdout, "%d 100\n", len(begun))
			return 0, io.ErrUnexpectedEOF
		}, 42)
		if want := [][]string{
			{"42", "10"},
			{"42", "10", "1", "100"},
			{"42", "10", "2", "100"},
		}; !reflect.DeepEqual(begun,
			want) {
			t.Errorf("the watches are %q, want %q", begun, want)
		}
	})
}

// The announcement of a shell is taken out, however it is cut into pieces, and only the
// first one; the rest is as it was.
func TestAnnounced(t *testing.T) {
	for text, c := range map[string]struct {
		want string
		pid  int
	}{
		"\x1b_berth-pid 42\x1b\\$ ":                       {"$ ", 42},
		"ls\r\n\x1b_berth-pid 42\x1b\\$ \x1b[6n":          {"ls\r\n$ \x1b[6n", 42},
		"\x1b_berth-pid 42\x1b\\a\x1b_berth-pid 43\x1b\\": {"a\x1b_berth-pid 43\x1b\\", 42},
		"\x1b[6n\x1b_berth":                               {"\x1b[6n\x1b_berth", 0},
		"\x1b\x1b_berth-pid 7\x1b\\":                      {"\x1b", 7},
		"\x1b_berth-pid x\x1b\\$ ":                        {"\x1b_berth-pid x\x1b\\$ ", 0},
		"\x1b_berth-pid 0000000000000000000000000000000000000001": {
			"\x1b_berth-pid 0000000000000000000000000000000000000001", 0,
		},
		"": {},
	} {
		for piece := 1; piece <= len(text)+1; piece++ {
			var out bytes.Buffer
			pids := []int(nil)
			a := &announced{out: &out, found: func(pid int) { pids = append(pids, pid) }}
			for rest := []byte(text); len(rest) > 0; {
				n := min(piece, len(rest))
				if wrote, err := a.Write(rest[:n]); wrote != n || err != nil {
					t.Fatal(wrote, err)
				}
				rest = rest[n:]
			}
			a.flush()
			if out.String() != c.want || len(pids) > 1 || c.pid != 0 && (len(pids) != 1 || pids[0] != c.pid) {
				t.Errorf("%q in pieces of %d is %q, %v", text, piece, &out, pids)
			}
		}
	}
}
