package initscript

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	v1 "github.com/berthdev/berth/api/v1"
)

// summary is what a log has said, a script in each line: 1 one done 2.5s | last line.
func summary(l *Log) string {
	var b strings.Builder
	for _, s := range l.Scripts() {
		fmt.Fprintf(&b, "%d %s %s", s.Number, s.Name, s.State)
		if s.ExitCode != nil {
			fmt.Fprintf(&b, " %d", *s.ExitCode)
		}
		if s.Seconds > 0 {
			fmt.Fprintf(&b, " %gs", s.Seconds)
		}
		if len(s.Lines) > 0 {
			b.WriteString(" | " + strings.Join(s.Lines, " | "))
		}
		b.WriteString("\n")
	}
	if l.Ready() {
		b.WriteString("ready\n")
	}
	return b.String()
}

func TestLog(t *testing.T) {
	for name, test := range map[string]struct{ log, want string }{
		"nothing yet": {"", ""},
		"one after the other": {`2026-01-01T00:00:00.5Z workspace: starting
2026-01-01T00:00:01.5Z workspace: init script 1/3 one started
2026-01-01T00:00:02Z hello
2026-01-01T00:00:04Z workspace: init script 1/3 one ended with status 0
2026-01-01T00:00:04Z workspace: init script 2/3 two started
2026-01-01T00:00:05Z no such file
2026-01-01T00:00:06.25Z workspace: init script 2/3 two ended with status 127
2026-01-01T00:00:07Z workspace: init script 3/3 three skipped
2026-01-01T00:00:07Z workspace: ready`, "1 one done 2.5s\n" +
			"2 two failed 127 2.25s | no such file\n3 three skipped\nready\n"},
		"one that runs has its last line": {"workspace: init script 1/2 one started\na\nb", "1 one running | b\n"},
		"empty lines say nothing":         {"workspace: init script 1/1 one started\na\n \n", "1 one running | a\n"},
		"without times": {"workspace: init script 1/1 one started\n" +
			"workspace: init script 1/1 one ended with status 0\nworkspace: ready", "1 one done\nready\n"},
		"no end of line before the end": {"workspace: init script 1/1 one started\n" +
			"no newlineworkspace: init script 1/1 one ended with status 3", "1 one failed 3 | no newline\n"},
		"progress": {
			"workspace: init script 1/1 one started\n10%\r20%\r30%\r",
			"1 one running | 30%\n",
		},
		"the repository": {
			"workspace: init script 1/1 k8shell.repository-0a1b2c3 started",
			"1 repository running\n",
		},
		"the names of files": {
			"workspace: init script 1/2 01_Setup.sh skipped\n" +
				"workspace: init script 2/2 repository-0a1b2c3 started",
			"1 01_Setup.sh skipped\n2 repository-0a1b2c3 running\n",
		},
		"a runtime that does not say it": {"workspace: starting\nworkspace: init script one\n" +
			"workspace: init script one failed with status 1; continuing\nworkspace: ready", "ready\n"},

		"an end without a begin": {"workspace: init script 1/1 one ended with status 0\n", ""},
		"another's end": {"workspace: init script 1/2 one started\n" +
			"workspace: init script 2/2 two ended with status 0", "1 one running | workspace: init script 2/2 two " +
			"ended with status 0\n"},
		"another's begin": {
			"workspace: init script 1/2 one started\nworkspace: init script 2/2 two started",
			"1 one running | workspace: init script 2/2 two started\n",
		},
		"a second end": {
			"workspace: init script 1/2 one started\n" +
				"workspace: init script 1/2 one ended with status 4\n" +
				"workspace: init script 1/2 one ended with status 0\n",
			"1 one failed 4\n",
		},
		"begun again": {
			"workspace: init script 1/2 one started\n" +
				"workspace: init script 1/2 one ended with status 4\nworkspace: init script 1/2 one started\n",
			"1 one failed 4\n",
		},
		"ready while a script runs": {
			"workspace: init script 1/1 one started\nworkspace: ready",
			"1 one running | workspace: ready\n",
		},
		"ready before the last script": {"workspace: init script 1/2 one skipped\nworkspace: ready", "1 one skipped\n"},
		"a script after that": {
			"workspace: starting\nworkspace: ready\nworkspace: init script 1/1 one started",
			"ready\n",
		},
		"another number of all": {
			"workspace: init script 1/2 one skipped\nworkspace: init script 2/3 two started",
			"1 one skipped\n",
		},
		"one that is left out": {"workspace: init script 2/2 two started", ""},
		"a beginning that is gone": {"workspace: init script 2/2 two started\n" +
			"workspace: init script 2/2 two ended with status 1\nworkspace: ready", ""},
		"nothing but the end":            {"workspace: ready", ""},
		"more than there can be":         {"workspace: init script 1/101 one started", ""},
		"words after it":                 {"workspace: init script 1/1 one started, or so", ""},
		"a name that no script can have": {"workspace: init script 1/1 \x1b[31mone started", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var l Log
			for line := range strings.SplitSeq(test.log, "\n") {
				l.Line(line)
			}
			if diff := cmp.Diff(test.want, summary(&l)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Of what a script says the last lines are kept, and not all of a long one.
func TestLogKeepsTheEnd(t *testing.T) {
	var l Log
	l.Line("workspace: init script 1/1 one started")
	for i := range 100 {
		l.Line(fmt.Sprintf("line %d %s", i, strings.Repeat("ä", lineLength)))
	}
	before := l.Last()
	l.Line("workspace: init script 1/1 one ended with status 1")
	got := l.Last().Lines
	if len(got) != lastLines || !strings.HasPrefix(got[0], "line 90 ") ||
		!strings.HasPrefix(got[lastLines-1], "line 99 ") {
		t.Errorf("%d lines, from %.10q", len(got), got)
	}
	for _, line := range append(got, before.Lines...) {
		if len(line) > lineLength || !utf8.ValidString(line) || !strings.HasSuffix(line, "…") {
			t.Errorf("%d bytes: %q", len(line), line)
		}
	}
}

// Whatever a log says: a script keeps its result once it has come to its end, and what is
// kept is bounded and can be shown.
func FuzzLog(f *testing.F) {
	f.Add("2026-01-01T00:00:00Z workspace: init script 1/2 one started\nx\n" +
		"workspace: init script 1/2 one ended with status 7\nworkspace: init script 2/2 two skipped\n" +
		"workspace: ready\n")
	f.Add("workspace: init script 1/1 k8shell.repository-0a1b2c3 started\n" +
		"xworkspace: init script 1/1 k8shell.repository-0a1b2c3 ended with status 999")
	f.Add("workspace: init script 100/100 a skipped\nworkspace: init script 0/0 a skipped\n2026-01-01T00:00:00Z\n")
	f.Fuzz(func(t *testing.T, text string) {
		var l Log
		var before []v1.Script
		for line := range strings.SplitSeq(text, "\n") {
			l.Line(line)
			now := l.Scripts()
			for i, s := range before {
				if s.State != v1.ScriptRunning && !cmp.Equal(s, now[i]) {
					t.Fatalf("%+v became %+v with %q", s, now[i], line)
				}
			}
			before = now
		}
		if len(before) > mostScripts {
			t.Errorf("%d scripts", len(before))
		}
		for i, s := range before {
			if s.Number != i+1 || len(s.Lines) > lastLines || s.Seconds < 0 || !utf8.ValidString(s.Name) {
				t.Errorf("script %d is %+v", i, s)
			}
			for _, line := range s.Lines {
				if len(line) > lineLength || !utf8.ValidString(line) {
					t.Errorf("%q", line)
				}
			}
		}
	})
}

func TestStamped(t *testing.T) {
	at, text := stamped("2026-01-01T00:00:00.25Z a b")
	if !at.Equal(time.Date(2026, 1, 1, 0, 0, 0, 250e6, time.UTC)) || text != "a b" {
		t.Errorf("%s, %q", at, text)
	}
	if at, text := stamped("no time"); !at.IsZero() || text != "no time" {
		t.Errorf("%s, %q", at, text)
	}
}
