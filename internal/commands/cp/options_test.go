package cp_test

import (
	"strings"
	"testing"
	"time"

	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/commands/cp"
	"github.com/berthdev/berth/internal/exec/pod"
	"github.com/berthdev/berth/internal/terminal"
)

func TestOptions(t *testing.T) {
	forget := func(o *cp.Options) { o.IO, o.Pods, o.Through = terminal.Streams{}, cmdutil.Pods{}, nil }
	local := func(path string) cp.Location { return cp.Location{Path: path} }
	in := func(workspace, path string) cp.Location { return cp.Location{Workspace: workspace, Path: path} }
	cmdtest.Options(t, cp.NewCmd, forget, map[string]cmdtest.Case[cp.Options]{
		"to a workspace": {
			Args: "notes.txt alice~dev:/srv",
			Want: cp.Options{From: local("notes.txt"), To: in("alice~dev", "/srv")},
		},
		"from its home directory": {Args: "alice: .", Want: cp.Options{From: in("alice", ""), To: local(".")}},
		"a path with a colon": {
			Args: "alice:a:b /tmp/c:d",
			Want: cp.Options{From: in("alice", "a:b"), To: local("/tmp/c:d")},
		},
		"a local name with one": {Args: "./a:b alice:x", Want: cp.Options{From: local("./a:b"), To: in("alice", "x")}},
		"a drive":               {Args: `C:\x alice:x`, Want: cp.Options{From: local(`C:\x`), To: in("alice", "x")}},
		"an ID": {
			Args: "id/alice-a975fae:x out",
			Want: cp.Options{From: in("id/alice-a975fae", "x"), To: local("out")},
		},
		"another container": {
			Args: "alice:x . -c side --pod web-1 --outside-links --timeout 5s",
			Want: cp.Options{
				From: in("alice", "x"), To: local("."), Place: pod.Place{Pod: "web-1", Container: "side"},
				OutsideLinks: true, Timeout: 5 * time.Second,
			},
		},
		"through a gateway": {
			Args: "alice:x . --gateway office -c side",
			Want: cp.Options{
				From: in("alice", "x"), To: local("."), Gateway: "office",
				Place: pod.Place{Container: "side"},
			},
		},
		"which chooses a pod": {
			Args: "alice:x . --gateway office --pod web-1",
			Err:  "--gateway and --pod are mutually exclusive",
		},
		"a machine": {
			Args: "machine/web:x . --gateway office",
			Err:  "machine/web has no files, only a console",
		},
		"one argument":        {Args: "alice:x", Err: "requires a source and a destination, got 1 argument"},
		"several sources":     {Args: "a b alice:", Err: "requires a source and a destination, got 3 arguments"},
		"two workspaces":      {Args: "alice:x bob:y", Err: "source and destination are both in a workspace"},
		"no workspace":        {Args: "a b", Err: "neither source nor destination is in a workspace"},
		"a colon in front":    {Args: ":a alice:", Err: `":a" names no workspace before the colon`},
		"a negative time-out": {Args: "a alice: --timeout -1s", Err: "--timeout must not be negative"},
	})
}

// The help is wrapped by hand: no line is longer than the others, in characters.
func TestHelpIsWrapped(t *testing.T) {
	for line := range strings.Lines(cp.NewCmd(&cmdutil.Factory{}, nil).Long) {
		if len(strings.TrimSpace(line)) > 88 {
			t.Errorf("%d characters: %s", len(line), line)
		}
	}
}
