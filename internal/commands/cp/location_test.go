package cp

import (
	"testing"

	"github.com/berthdev/berth/internal/fault"
)

// A ~ is the home directory, to which paths are relative; only where it stands alone.
func TestHomeOfLocation(t *testing.T) {
	for text, want := range map[string]string{
		"alice~dev:~": "", "alice~dev:~/": "", "alice~dev:~/note": "note", "alice~dev:~//etc": "etc",
		"alice~dev:~/.":    ".",
		"alice~dev:~bob/x": "~bob/x", "alice~dev:a/~/b": "a/~/b", "alice~dev:/~": "/~",
	} {
		if l, err := parseLocation(text); err != nil || l.Path != want || l.Workspace != "alice~dev" {
			t.Errorf("%s: %+v, %v", text, l, err)
		}
	}
}

// A drive of Windows is no user; one letter before a slash is, but for Windows.
func TestDriveOfLocation(t *testing.T) {
	for text, here := range map[string]struct{ windows, elsewhere bool }{
		`C:\x`: {true, true}, `c:\`: {true, true}, "C:/x": {true, false}, "c:/": {true, false},
		"C:x": {}, "c~dev:/x": {}, "cc:/x": {}, `1:\x`: {}, "c:": {},
	} {
		for windows, want := range map[bool]bool{true: here.windows, false: here.elsewhere} {
			if l, err := parseLocationOn(text, windows); err != nil || (l.Workspace == "") != want {
				t.Errorf("%s (on Windows: %t): %+v, %v", text, windows, l, err)
			}
		}
	}
}

// Standard streams are no paths; the command that is named is one that does it.
func TestStandardStreams(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		hint string
	}{
		"output": {
			[]string{"alice~dev:note", "-"},
			"use exec: berth exec alice~dev -- cat note; write ./- for a file of that name",
		},
		"input": {
			[]string{"-", "alice~dev:~/note"},
			"use exec: berth exec -i alice~dev -- sh -c 'cat > note'; write ./- for a file of that name",
		},
		"a file": {[]string{"./-", "alice~dev:"}, ""},
	} {
		_, _, err := locations(c.args)
		if (err != nil) != (c.hint != "") || err != nil && fault.From(err).Hint != c.hint {
			t.Errorf("%s: %v, %q", name, err, fault.From(err).Hint)
		}
	}
}

// Flags are completed for the workspace, in whichever argument it is.
func TestWorkspaceOf(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"alice~dev:x"}, "alice~dev"},
		{[]string{"notes.txt", "id/alice-a975fae:"}, "id/alice-a975fae"},
		{[]string{"./a:b", "alice:x"}, "alice"},
		{[]string{"notes.txt"}, ""},
		{[]string{":x"}, ""},
		{nil, ""},
	} {
		if got := workspaceOf(c.args); got != c.want {
			t.Errorf("%q: %q, want %q", c.args, got, c.want)
		}
	}
}
