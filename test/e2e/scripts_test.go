//go:build e2e

package e2e

import (
	"encoding/json"
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
)

// What the init scripts do is seen while they run and afterwards: one that fails is a warning
// with what it has said, or a failure where that is wanted.
func TestInitScripts(t *testing.T) {
	w := newWorld(t)
	two := "initScripts=[{name: good, script: 'echo fine; sleep 2'}, {name: bad, script: 'echo about to fail; " +
		"nosuchcommand; exit 7'}]"

	r := w.must(3, "provision", "alice~plain", "--set", two, "--strict-scripts", "--on-failure", "delete")
	w.contains(r.stderr, "warning script bad: failed with exit code 7", "log bad: about to fail",
		"error FAILED: failed after", "init script bad failed with exit code 7", "deleted: what was created")
	if w.pod(w.idOf("alice~plain")) != nil {
		t.Error("the workspace is still there")
	}

	r = w.must(0, "provision", "alice~plain", "--set", two, "--output", "json")
	w.contains(r.stderr, "script good: started", "script good: done (", "warning script bad: failed with exit code 7",
		"nosuchcommand")
	status := w.must(0, "status", "alice~plain", "--output", "json").stdout
	for of, document := range map[string]string{"provision": r.stdout, "status": status} {
		var got v1.Workspace
		if err := json.Unmarshal([]byte(document), &got); err != nil {
			t.Fatal(err)
		}
		if len(got.Scripts) != 2 || got.ScriptsUnread != "" {
			t.Fatalf("%s: %+v %s", of, got.Scripts, got.ScriptsUnread)
		}
		good, bad := got.Scripts[0], got.Scripts[1]
		// The times are of when the runtime has read the lines.
		if good.Name != "good" || good.State != v1.ScriptDone || good.Seconds < 1 || good.Seconds > 60 {
			t.Errorf("%s: %+v", of, good)
		}
		if bad.State != v1.ScriptFailed || bad.ExitCode == nil || *bad.ExitCode != 7 || len(bad.Lines) != 2 ||
			bad.Lines[0] != "about to fail" {
			t.Errorf("%s: %+v", of, bad)
		}
	}
	w.contains(w.must(0, "status", "alice~plain").stdout, "failed, exit code 7", "last lines of init script bad:",
		"about to fail")
}
