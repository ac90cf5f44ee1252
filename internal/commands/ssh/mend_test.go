package ssh

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/exec/pod"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/progress"
	"github.com/berthdev/berth/internal/terminal/terminaltest"
)

// What keeps a workspace from being entered is helped by one command, if it can be, and that command is said.
func TestMend(t *testing.T) {
	because := func(reason string) error { return fault.New(fault.Failed, "it is not there").WithReason(reason) }
	for _, test := range []struct {
		name   string
		starts bool
		first  error // of the first looks
		runs   error // how the command ends
		last   error // of the look after it
		ran    string
		says   string
		want   string // the error
	}{
		{name: "it runs"},
		{name: "it starts", first: because(pod.ReasonNotRunning), ran: "exec -- true", says: "is not ready yet"},
		{
			name: "its workload has no pod yet", first: because(inventory.ReasonNoPod), ran: "exec -- true",
			says: "is not ready yet",
		},
		{
			name: "it is stopped", first: because(cmdutil.ReasonStopped), last: errors.New("unused"),
			want: "it is not there",
		},
		{
			name: "it is stopped, and started", starts: true, first: because(cmdutil.ReasonStopped), ran: "start",
			says: "is stopped",
		},
		{
			name: "its pod was deleted", first: because(inventory.ReasonPodGone), last: errors.New("unused"),
			want: "it is not there",
		},
		{
			name: "its pod was deleted, and it is started", starts: true, first: because(inventory.ReasonPodGone),
			ran: "start", says: "has no pod",
		},
		{name: "its pod is over", starts: true, first: because(pod.ReasonEnded), ran: "start", says: "is stopped"},
		{name: "it does not exist", starts: true, first: fault.New(fault.NotFound, "nowhere"), want: "nowhere"},
		{
			name: "it fails", first: because(pod.ReasonNotRunning), runs: errors.New("no image"),
			last: because(pod.ReasonNotRunning),
			ran:  "exec -- true", says: "is not ready yet", want: "no image",
		},
		{
			name: "it has no program true", first: because(pod.ReasonNotRunning), runs: errors.New("status 127"),
			ran: "exec -- true", says: "is not ready yet",
		},
		{
			name: "it is deleted meanwhile", first: because(pod.ReasonNotRunning),
			last: fault.New(fault.NotFound, "gone"),
			ran:  "exec -- true", says: "is not ready yet", want: "gone",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			var ran []string
			m := newMender(test.starts, func(
				_ context.Context, of Name, _ func(string), verb string, arguments ...string,
			) error {
				ran = slices.Concat(ran, []string{verb}, arguments)
				if of.Workspace != "alice" {
					t.Error(of)
				}
				return test.runs
			})
			said := ""
			err := m.until(t.Context(), Name{Workspace: "alice"}, func(text string) { said += text }, func() error {
				if len(ran) == 0 {
					return test.first
				}
				return test.last
			})
			got := ""
			if err != nil {
				got = fault.From(err).Message
			}
			if strings.Join(ran, " ") != test.ran || got != test.want || !strings.Contains(said, test.says) ||
				test.says == "" && said != "" {
				t.Errorf("ran %q, said %q, ends with %q", ran, said, got)
			}
		})
	}
}

// A channel whose client has gone ends what it waits for, and no longer waits for another.
func TestMendEnds(t *testing.T) {
	starts := func() error { return fault.New(fault.Failed, "it starts").WithReason(pod.ReasonNotRunning) }
	runs := make(chan struct{}, 2)
	m := newMender(false, func(ctx context.Context, _ Name, _ func(string), _ string, _ ...string) error {
		runs <- struct{}{}
		<-ctx.Done()
		return context.Cause(ctx)
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 2)
	until := func() { ended <- m.until(ctx, Name{Workspace: "alice"}, func(string) {}, starts) }
	go until()
	<-runs
	go until()
	cancel()
	for range 2 {
		if err := <-ended; err == nil {
			t.Error("it is entered")
		}
	}
}

// Of a command that failed, its error is passed on, and not what it said before.
func TestLastError(t *testing.T) {
	for name, c := range map[string]struct{ said, want string }{
		"an error": {
			"2026-11-27T15:41:40Z bad-d8ac4d2 stage Starting\nerror: the image was not found (FAILED)\nhint:  see it\n",
			"the image was not found",
		},
		"the first line":      {"error: no such place (NOT_FOUND)\n", "no such place"},
		"one with brackets":   {"error: image a (of b) is gone\n", "image a (of b) is gone"},
		"the last of them":    {"error: one (A)\nerror: two (B)\n", "two"},
		"none":                {"panic: at the disco\n", "panic: at the disco"},
		"none, and no end":    {strings.Repeat("x", 2*maxSaid), strings.Repeat("x", maxSaid)},
		"within another line": {"warning: no error: fine\n", "warning: no error: fine"},
	} {
		if got := lastError(c.said); got != c.want {
			t.Errorf("%s: %.100q", name, got)
		}
	}
}

// What keeps a workspace back is passed on once to the session that waits for it. The error in the end is one line that
// says why it failed, without the log before it.
func TestLog(t *testing.T) {
	const at = "2026-11-27T18:43:04Z alice-2398b94 "
	const see = "see what keeps it back: berth diagnose alice"
	for name, c := range map[string]struct{ lines, told, message, hint string }{
		"a failure": {
			"stage Pulling\nerror FAILED: failed after 0.03s: container main: image x not found\n" +
				"hint: The registry answered.\nhint: Check it.\nlog main: hint: none\n",
			"", "container main: image x not found", "The registry answered. Check it; " + see,
		},
		"a cause": {
			"stage Scheduling\ncause StorageClassMissing: Storage class fast does not exist\nhint: create it\n" +
				"cause StorageClassMissing: Storage class fast does not exist\nhint: create it\n" +
				"stuck: this will not resolve by itself: someone has to act\nstuck: Ctrl-C leaves it working\n" +
				"error FAILED: gave up after 1m30s: Storage class fast does not exist\nhint: create it\n",
			"berth: StorageClassMissing: Storage class fast does not exist\nhint: create it\n" +
				"berth: this will not resolve by itself: someone has to act\n",
			"Storage class fast does not exist", see,
		},
		"an error of another kind": {"", "", "no such image", see},
	} {
		t.Run(name, func(t *testing.T) {
			told := ""
			l := &log{say: func(text string) { told += text }}
			text := strings.TrimSuffix(strings.ReplaceAll("\n"+c.lines, "\n", "\n"+at), at)[1:]
			if c.lines == "" {
				text = "error: no such image (NOT_FOUND)\nhint:  see it\n"
			}
			for piece := range strings.SplitSeq(text, "a") { // as it may come
				_, _ = l.Write([]byte(piece + "a"))
			}
			f := fault.From(l.fault("alice", nil))
			if told != c.told || f.Message != "workspace alice cannot be entered: "+c.message || f.Hint != c.hint {
				t.Errorf("told %q\nerror %q\nhint %q", told, f.Message, f.Hint)
			}
		})
	}
}

// What is read is what the printers of a command print: of its progress, and of an error that comes before that.
func TestLogOfThePrinters(t *testing.T) {
	const hint = "Create it, or name another one."
	cause := v1.Cause{
		Code: "StorageClassMissing", Message: "Storage class fast does not exist", Hint: hint, Stuck: true,
	}
	failed := v1.Error{
		Code: "FAILED", Reason: cause.Code, ExitStatus: 3, Message: "gave up after 1m30s: " + cause.Message, Hint: hint,
	}
	progressed := func(s terminal.Streams) {
		story := terminaltest.Opening()
		story.Stage(time.Second, v1.StageScheduling, v1.Snapshot{Cause: &cause})
		story.Stage(2*time.Second, v1.StageScheduling, v1.Snapshot{Cause: &cause})
		w := terminaltest.Workspace(v1.StageScheduling, v1.Snapshot{Cause: &cause})
		last := failed
		last.Workspace = &w
		story.Add(3*time.Second, v1.Event{Result: &v1.Result{Error: &last}})
		renderer := progress.New(s, printer.Format{}, terminaltest.Single(terminaltest.Alice))
		for _, e := range story.Events {
			renderer.Handle(e)
		}
	}
	for name, c := range map[string]struct {
		print               func(terminal.Streams)
		told, message, hint string
	}{
		"progress, and how it ends": {
			progressed,
			"berth: StorageClassMissing: Storage class fast does not exist\nhint: " + hint + "\n" +
				"berth: this will not resolve by itself: someone has to act\n",
			cause.Message, "see what keeps it back: berth diagnose alice",
		},
		"an error alone": {
			func(s terminal.Streams) { _ = printer.PrintError(s, printer.Format{}, failed) },
			"", failed.Message, "see what keeps it back: berth diagnose alice",
		},
	} {
		t.Run(name, func(t *testing.T) {
			streams, printed := terminal.Test("", terminaltest.Now)
			c.print(streams)
			told := ""
			l := &log{say: func(text string) { told += text }}
			_, _ = l.Write(printed.Err.Bytes())
			f := fault.From(l.fault("alice", nil))
			if told != c.told || f.Message != "workspace alice cannot be entered: "+c.message || f.Hint != c.hint {
				t.Errorf("told %q\nerror %q\nhint %q\nof %s", told, f.Message, f.Hint, printed.Err)
			}
		})
	}
}
