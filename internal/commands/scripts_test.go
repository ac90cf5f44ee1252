package commands_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/kubetest"
	"github.com/berthdev/berth/internal/schematest"
)

// ofScripts is the log of a workspace with two init scripts, of which one fails.
const ofScripts = `2026-01-01T00:00:00Z workspace: starting
2026-01-01T00:00:01Z workspace: init script 1/2 one started
2026-01-01T00:00:03Z workspace: init script 1/2 one ended with status 0
2026-01-01T00:00:03Z workspace: init script 2/2 two started
2026-01-01T00:00:03Z no such file
2026-01-01T00:00:04Z workspace: init script 2/2 two ended with status 7
2026-01-01T00:00:04Z workspace: ready
`

// scripted is a cluster with that log, which may be forbidden, and counts who asks for it.
func scripted(t *testing.T, forbidden bool) (s *kubetest.Server, asked *atomic.Int32) {
	t.Helper()
	cmdtest.Offline(t)
	asked = &atomic.Int32{}
	s = kubetest.Start(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/log") {
				asked.Add(1)
				if forbidden {
					w.Header().Set("Content-Type", "application/json")
					w.WriteHeader(http.StatusForbidden)
					_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure",` +
						`"reason":"Forbidden","code":403,"message":"no logs for you"}`))
					return
				}
			}
			next.ServeHTTP(w, r)
		})
	})
	s.Log = ofScripts
	cmdtest.Cluster(t, s.URL)
	configured(t, "", "blueprints:\n- {name: scripted, template: default, initScripts: [{name: one, script: 'true'}, "+
		"{name: two, script: exit 7}]}\n- {name: strict, template: scripted, strictScripts: true}\n"+
		"- {name: plain, template: default}\n")
	return s, asked
}

func workspaceOf(t *testing.T, text string) (w v1.Workspace) {
	t.Helper()
	schematest.Validate(t, []byte(text))
	if err := json.Unmarshal([]byte(text), &w); err != nil {
		t.Fatal(err)
	}
	return w
}

// What the init scripts do is reported as it happens, and is in the documents; a failure is a
// warning.
func TestInitScriptsAreReported(t *testing.T) {
	scripted(t, false)
	stdout, stderr := cmdtest.Must(t, 0, "provision", "alice~scripted", "-o", "json")
	for _, want := range []string{
		"script one: started", "script one: done (2s)",
		"warning script two: failed with exit code 7 (1s)", "log two: no such file",
	} {
		if !strings.Contains(stderr, want) {
			t.Errorf("%q is not in\n%s", want, stderr)
		}
	}
	status, _ := cmdtest.Must(t, 0, "status", "alice~scripted", "-o", "json")
	for _, text := range []string{stdout, status} {
		w := workspaceOf(t, text)
		if len(w.Scripts) != 2 || w.Scripts[0].Seconds != 2 || w.Scripts[1].ExitCode == nil ||
			*w.Scripts[1].ExitCode != 7 || len(w.Scripts[1].Lines) != 1 || w.ScriptsUnread != "" {
			t.Errorf("%+v %s", w.Scripts, w.ScriptsUnread)
		}
	}
	text, _ := cmdtest.Must(t, 0, "status", "alice~scripted")
	if !strings.Contains(text, "failed, exit code 7") || !strings.Contains(text, "no such file") {
		t.Error(text)
	}
	jsonl, _ := cmdtest.Must(t, 0, "provision", "bob~scripted", "-o", "jsonl")
	steps := 0
	for line := range strings.Lines(jsonl) {
		// What a script has written is reported now and then, depending on time.
		if strings.Contains(line, `"script":{`) &&
			(!strings.Contains(line, `"running"`) || !strings.Contains(line, `"lines"`)) {
			steps++
		}
	}
	if steps != 4 {
		t.Errorf("%d events:\n%s", steps, jsonl)
	}
}

// With --strict-scripts it is a failure as any other.
func TestStrictScripts(t *testing.T) {
	s, _ := scripted(t, false)
	stdout, _ := cmdtest.Must(t, 3, "provision", "alice~scripted", "-o", "json", "--strict-scripts", "--on-failure",
		"delete")
	schematest.Validate(t, []byte(stdout))
	var e v1.Error
	if err := json.Unmarshal([]byte(stdout), &e); err != nil {
		t.Fatal(err)
	}
	if e.Code != "FAILED" || e.Reason != "INIT_SCRIPT_FAILED" ||
		e.Message != "init script two failed with exit code 7" || e.Left != v1.LeftDeleted {
		t.Errorf("%+v", e)
	}
	if e.Logs == nil || e.Logs.Script != "two" || e.Logs.Container != v1.MainContainer ||
		strings.Join(e.Logs.Lines, "") != "no such file" {
		t.Errorf("%+v", e.Logs)
	}
	if pods := s.Names("pods"); len(pods) > 0 {
		t.Errorf("%v are left", pods)
	}
	if _, stderr := cmdtest.Must(t, 2, "provision", "alice", "--strict-scripts", "--no-wait"); !strings.Contains(stderr,
		"mutually exclusive") {
		t.Error(stderr)
	}
}

// What the blueprint says about its scripts holds for every command that waits, without a flag.
func TestStrictScriptsOfTheBlueprint(t *testing.T) {
	scripted(t, false)
	for _, tc := range []struct {
		args   string
		status int
	}{
		{"provision alice~strict", 3},
		{"start alice~strict", 3}, // runs
		{"stop alice~strict", 0},
		{"start alice~strict", 3},
		{"restart alice~strict", 3},
		{"update alice~strict --yes --set env.A=b", 3},
		{"exec bob~strict --provision -- true", 125},
		{"provision carol~scripted", 0},
		{"restart carol~scripted", 0},
	} {
		if _, stderr := cmdtest.Must(t, tc.status, strings.Fields(tc.args)...); tc.status != 0 &&
			!strings.Contains(stderr, "init script two failed with exit code 7") {
			t.Errorf("berth %s: %s", tc.args, stderr)
		}
	}
}

// A retry does not hide that a script has failed: the scripts of a workspace that runs are
// looked at where their failure is one.
func TestStrictScriptsOfAWorkspaceThatRuns(t *testing.T) {
	_, asked := scripted(t, false)
	cmdtest.Must(t, 0, "provision", "alice~scripted")
	asked.Store(0)
	cmdtest.Must(t, 0, "provision", "alice~scripted", "--if-not-exists")
	if n := asked.Load(); n != 0 {
		t.Errorf("the log was read %d times", n)
	}
	stdout, _ := cmdtest.Must(t, 3, "provision", "alice~scripted", "--if-not-exists", "--strict-scripts", "-o", "json")
	var e v1.Error
	if err := json.Unmarshal([]byte(stdout), &e); err != nil || e.Reason != "INIT_SCRIPT_FAILED" ||
		e.Left != v1.LeftKept || e.Logs == nil || e.Logs.Script != "two" {
		t.Errorf("%v %+v", err, e)
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("the log was read %d times", n)
	}
	cmdtest.Must(t, 3, "provision", "bob~strict")
	cmdtest.Must(t, 3, "provision", "bob~strict", "--if-not-exists")
}

// Anyone who may not read the log is told so, and sees everything else; what cannot be seen is not
// taken for a success.
func TestInitScriptsThatCannotBeSeen(t *testing.T) {
	scripted(t, true)
	stdout, stderr := cmdtest.Must(t, 0, "provision", "alice~scripted", "-o", "json")
	if w := workspaceOf(t, stdout); w.Stage != v1.StageRunning || !strings.Contains(w.ScriptsUnread, "get pods/log") ||
		strings.Count(stderr, "cannot read the init scripts' output") != 1 {
		t.Errorf("%+v\n%s", w, stderr)
	}
	status, _ := cmdtest.Must(t, 0, "status", "alice~scripted")
	if !strings.Contains(status, "cannot read the init scripts' output") || !strings.Contains(status, "Running") {
		t.Error(status)
	}
	_, stderr = cmdtest.Must(t, 3, "provision", "bob~scripted", "--strict-scripts")
	if !strings.Contains(stderr, "the output of its init scripts cannot be read") {
		t.Error(stderr)
	}
}

// A log that has lost its beginning, or ends too early, does not say that no script has failed.
func TestInitScriptsThatAreNotWhole(t *testing.T) {
	for name, lines := range map[string][2]int{"without the beginning": {3, 7}, "without the end": {0, 4}} {
		t.Run(name, func(t *testing.T) {
			s, _ := scripted(t, false)
			all := strings.SplitAfter(ofScripts, "\n")
			s.Log = strings.Join(all[lines[0]:lines[1]], "")
			_, stderr := cmdtest.Must(t, 3, "provision", "alice~scripted", "--strict-scripts")
			if !strings.Contains(stderr, "the output of its init scripts cannot be read") {
				t.Error(stderr)
			}
		})
	}
}

// Without init scripts nobody asks for a log.
func TestNoLogWithoutInitScripts(t *testing.T) {
	_, asked := scripted(t, false)
	cmdtest.Must(t, 0, "provision", "alice~plain")
	cmdtest.Must(t, 0, "status", "alice~plain")
	if n := asked.Load(); n > 0 {
		t.Errorf("%d requests for logs", n)
	}
}
