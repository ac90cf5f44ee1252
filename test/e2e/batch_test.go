//go:build e2e

package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/schematest"
)

// five are workspaces of which two fail, for different reasons.
const five = `# the team
alice~plain
bob~wrong-tag   # fails: no such image

carol~busy
dave~unbindable # fails: no volume
erin~plain
`

// teamFile is a file with user strings.
func (w *world) teamFile(text string) string {
	w.Helper()
	name := filepath.Join(w.TempDir(), "team.txt")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		w.Fatal(err)
	}
	return name
}

// Many at once, as one document: a failure stops no other, the status is 3,
// and each has its own code, cause and hint.
func TestBatchAsDocument(t *testing.T) {
	w := newWorld(t)
	file := w.teamFile(five)
	r := w.must(3, "provision", "-f", file, "--parallel", "3", "-o", "json")
	doc := decode[v1.ProvisionSummary](w, r)
	if doc.Kind != "ProvisionSummary" || doc.Succeeded != 3 || doc.Failed != 2 || doc.ExitStatus != 3 ||
		len(doc.Items) != 5 || doc.Requests == 0 {
		t.Fatalf("%+v", doc)
	}
	for i, want := range []struct{ user, cause string }{
		{"alice~plain", ""},
		{"bob~wrong-tag", "ImageNotFound"},
		{"carol~busy", ""},
		{"dave~unbindable", "VolumeUnbound"},
		{"erin~plain", ""},
	} {
		item := doc.Items[i]
		switch {
		case item.UserString != want.user || item.ID != w.idOf(want.user):
			t.Errorf("item %d is %s, %s; want %s", i, item.UserString, item.ID, want.user)
		case want.cause == "" && (item.Workspace == nil || item.Error != nil ||
			item.Workspace.Stage != v1.StageRunning):
			t.Errorf("%s does not run: %+v", want.user, item)
		case want.cause != "" && (item.Workspace != nil || item.Error == nil || item.Error.Code != "FAILED" ||
			item.Error.Hint == ""):
			t.Errorf("%s has not failed: %+v", want.user, item)
		case want.cause != "" && item.Error.Workspace.Cause.Code != want.cause:
			t.Errorf("%s failed for %+v, want %s", want.user, item.Error.Workspace.Cause, want.cause)
		}
	}

	// What runs already ends as it does alone, unless that is allowed; in JSON lines, the events of
	// all are numbered without a gap, and the last line is the summary.
	again := w.must(6, "provision", "alice~plain", "-o", "json")
	if code := decode[v1.Error](w, again).Code; code != "ALREADY_EXISTS" {
		t.Errorf("alone: %s", code)
	}
	running := w.teamFile("alice~plain\nerin~plain\n")
	refused := decode[v1.ProvisionSummary](w, w.must(6, "provision", "-f", running, "-o", "json"))
	if refused.Failed != 2 || refused.Items[0].Error.Code != "ALREADY_EXISTS" ||
		refused.Items[0].Error.ExitStatus != 6 {
		t.Errorf("running already: %+v", refused)
	}
	stream := w.must(0, "provision", "-f", running, "--if-not-exists", "-o", "jsonl").stdout
	w.checkStream(stream, "alice~plain", "erin~plain")
}

// checkStream checks the stream of a batch.
func (w *world) checkStream(stream string, users ...string) {
	w.Helper()
	schematest.ValidateLines(w, []byte(stream))
	lines := bytes.Split(bytes.TrimSpace([]byte(stream)), []byte("\n"))
	outcomes := map[string]int{}
	for i, line := range lines[:len(lines)-1] {
		e := decode[v1.Event](w, result{stdout: string(line)})
		if e.Seq != uint64(i+1) || e.Workspace == "" || e.Result != nil {
			w.Errorf("line %d is %s", i+1, line)
		}
		if e.Outcome != nil {
			outcomes[e.Workspace]++
		}
	}
	for _, user := range users {
		if outcomes[w.idOf(user)] != 1 {
			w.Errorf("%s has %d outcomes", user, outcomes[w.idOf(user)])
		}
	}
	w.contains(string(lines[len(lines)-1]), `"kind":"ProvisionSummary"`)
}

// At a terminal: one table, and at the end causes and hints.
func TestBatchAtATerminal(t *testing.T) {
	w := newWorld(t)
	out, status := w.terminal(w.command("provision", "-f", w.teamFile(five), "--parallel", "3"), "")
	if status != 3 {
		t.Errorf("exit status %d, want 3", status)
	}
	text := strings.ReplaceAll(ansi.Strip(out), "\r", "")
	w.contains(text, "5 workspaces in "+w.namespace+", 3 at a time", "queued", "active", "3 of 5 running after",
		"2 failed",
		"no-such-tag not found", "berth diagnose bob~wrong-tag", "berth diagnose dave~unbindable", "--if-not-exists")
	for _, row := range []string{
		`✔ alice~plain +Running`, `✘ bob~wrong-tag +Failed +\S`, `✔ carol~busy +Running`,
		`✘ dave~unbindable +Failed +\S`, `✔ erin~plain +Running`,
	} {
		if !regexp.MustCompile(row).MatchString(text) {
			t.Errorf("no row %q in\n%s", row, text)
		}
	}
	if i, j := strings.LastIndex(out, "\x1b[?25l"), strings.LastIndex(out, "\x1b[?25h"); j < i {
		t.Error("the cursor is not given back")
	}
}

// Ctrl-C stops following all of them and says how to continue; that is then run.
func TestBatchInterrupted(t *testing.T) {
	w := newWorld(t)
	file := w.teamFile("alice~gated\nbob~gated\ncarol~plain\n")
	p := w.start("provision", "-f", file, "--parallel", "2")
	p.waitFor("stage Starting")
	p.signal(os.Interrupt)
	r := p.wait()
	r.mustBe(w, 130)
	w.contains(r.stderr, "interrupted after", "not started", "summary: Interrupted after", "3 no longer followed",
		"next: berth provision -f "+file+" --parallel 2 --if-not-exists")
	if pod := w.pod(w.idOf("carol~plain")); pod != nil {
		t.Error("one that waited was begun after the interruption")
	}
	again := w.start("provision", "-f", file, "--parallel", "2", "--if-not-exists", "-o", "json")
	w.open("alice~gated")
	w.open("bob~gated")
	r = again.wait()
	r.mustBe(w, 0)
	doc := decode[v1.ProvisionSummary](w, r)
	if doc.Succeeded != 3 {
		t.Errorf("%+v", doc)
	}
}

// The time is for all of them together, and its end is the exit status if nothing else failed.
func TestBatchTimeout(t *testing.T) {
	w := newWorld(t)
	for _, user := range []string{"alice~huge", "bob~huge"} {
		w.must(0, "provision", user, "--no-wait")
		w.waitForPod(user, unscheduled)
	}
	file := w.teamFile("- alice~huge\n- userString: bob~huge\n- carol~huge\n")
	r := w.must(5, "provision", "-f", file, "--parallel", "2", "--timeout", "15s", "-o", "yaml")
	if strings.Count(r.stdout, "code: DEADLINE_EXCEEDED") != 3 {
		t.Error(r.stdout)
	}
	w.contains(r.stdout, "kind: ProvisionSummary", "Insufficient cpu", "not started")
}
