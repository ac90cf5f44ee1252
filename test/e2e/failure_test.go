//go:build e2e

package e2e

import (
	"slices"
	"strings"
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/schematest"
)

// A workspace that cannot come up ends with status 3, its cause, what to do
// about it, and the last words of the container where it had any.
func TestFailures(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		blueprint, cause string
		says             []string
		hint, logs       string
	}{
		{
			"wrong-tag", "ImageNotFound",
			[]string{"berth/workspace:no-such-tag", "not found"},
			`"image" in blueprint wrong-tag`, "",
		},
		{"private", "ImagePullDenied", []string{"private/workspace:v1"}, "the namespace needs a pull secret", ""},
		{"crashing", "CrashLoop", []string{"restart", "exit code 1"}, "exit code 1", "nodenv: not found"},
		{"hungry", "OOMKilled", []string{"ran out of memory"}, "its limit of 32Mi", ""},
		{"unbindable", "VolumeUnbound", []string{"no persistent volumes available"}, "blueprint unbindable", ""},
	} {
		t.Run(test.blueprint, func(t *testing.T) {
			w := newWorld(t)
			r := w.must(3, "provision", "alice~"+test.blueprint, "--output", "json")
			doc := decode[v1.Error](w, r)
			if doc.Kind != "Error" || doc.Code != "FAILED" || doc.ExitStatus != 3 || doc.Hint == "" {
				t.Errorf("%+v", doc)
			}
			w.contains(doc.Message, test.says...)
			w.contains(doc.Hint, test.hint)
			if doc.Workspace == nil || doc.Workspace.Stage != v1.StageFailed || doc.Workspace.Cause.Code != test.cause {
				t.Errorf("the workspace is %+v", doc.Workspace)
			}
			if test.logs != "" && (doc.Logs == nil || !slices.Contains(doc.Logs.Lines, test.logs)) {
				t.Errorf("the logs are %+v, want %q", doc.Logs, test.logs)
			}
			w.must(0, "delete", "alice~"+test.blueprint)
		})
	}
}

// A failure is also printed line by line, with the next commands.
func TestFailureInText(t *testing.T) {
	w := newWorld(t)
	r := w.must(3, "provision", "alice~crashing")
	w.contains(r.stderr, "crash loop", "exit code 1", "nodenv: not found", "berth delete alice~crashing")
	if r.stdout != "" {
		t.Errorf("stdout has %q", r.stdout)
	}
	one := w.must(0, "status", "alice~crashing").stdout
	w.contains(one, "Failed", "exit code 1")
}

// A failed workspace is replaced by provisioning it again.
func TestFailedIsReplaced(t *testing.T) {
	w := newWorld(t)
	w.must(3, "provision", "alice~wrong-tag")
	before := w.pod(w.idOf("alice~wrong-tag")).UID
	w.must(3, "provision", "alice~wrong-tag")
	if after := w.pod(w.idOf("alice~wrong-tag")); after == nil || after.UID == before {
		t.Error("the failed pod was not replaced")
	}
}

// A timeout is not a failure, but the reason is reported.
func TestTimeout(t *testing.T) {
	w := newWorld(t)
	w.must(0, "provision", "alice~huge", "--no-wait")
	w.waitForPod("alice~huge", unscheduled)
	r := w.must(5, "provision", "alice~huge", "--timeout", "15s", "-o", "json")
	doc := decode[v1.Error](w, r)
	if doc.Code != "DEADLINE_EXCEEDED" || doc.ExitStatus != 5 {
		t.Errorf("%+v", doc)
	}
	w.contains(doc.Message, "timed out after 15s", "Scheduling", "Insufficient cpu")
	// The same, in JSON lines: stages as they happen, the error last.
	stream := w.must(5, "provision", "alice~huge", "--timeout", "8s", "-o", "jsonl").stdout
	schematest.ValidateLines(t, []byte(stream))
	lines := strings.Split(strings.TrimSpace(stream), "\n")
	w.contains(lines[0], `"kind":"Event"`, `"seq":1`)
	w.contains(lines[len(lines)-1], `"kind":"Error"`, `"code":"DEADLINE_EXCEEDED"`)
}
