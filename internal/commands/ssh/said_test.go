package ssh

import (
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/fault"
)

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

// What keeps a workspace back is passed on to whoever waits for it, once, and the error in the end says in one line why
// it failed, and not what the command had said before.
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
