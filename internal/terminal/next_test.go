package terminal

import (
	"slices"
	"strings"
	"testing"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
)

func proposed(cs []command) (lines []string) {
	for _, c := range cs {
		lines = append(lines, c.line)
	}
	return lines
}

// What was looked for elsewhere is not to be looked for here next.
func TestProposedCommandsKeepTheFlags(t *testing.T) {
	title := alice
	title.Flags = []string{Flag("-n", "t1"), Flag("--kubeconfig", "my file")}
	w := workspace(v1.StageRunning, v1.Snapshot{})
	want := []string{"berth exec alice~dev -n t1 --kubeconfig 'my file'"}
	if got := proposed(next(title, v1.Result{Workspace: &w})); !slices.Equal(got, want) {
		t.Errorf("after provisioning: %q, want %q", got, want)
	}
	s, b := Test("", now)
	s.Flags = title.Flags
	if err := Print(s, Format{}, &w); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.Out.String(), want[0]+"\n") {
		t.Errorf("status does not propose %q:\n%s", want[0], b.Out)
	}
}

func TestLocatedHints(t *testing.T) {
	title := Title{Flags: []string{"-n t1", "--context x"}}
	for hint, want := range map[string]string{
		"": "",
		"enter it with `berth exec alice`, or pass --if-not-exists": "enter it with `berth exec alice -n t1 --context x`, or pass --if-not-exists",
		"`kubectl get pods` and `berth status` tell":                "`kubectl get pods` and `berth status -n t1 --context x` tell",
		"an odd ` berth sign":                                       "an odd ` berth sign",
	} {
		if got := title.Located(hint); got != want {
			t.Errorf("%q: %q, want %q", hint, got, want)
		}
		if got := alice.Located(hint); got != hint {
			t.Errorf("%q without flags: %q", hint, got)
		}
	}
}

// Nothing is proposed for what was never made.
func TestProposalsAfterFailures(t *testing.T) {
	pod, none := workspace(v1.StagePulling, v1.Snapshot{}), workspace(v1.StageUnknown, v1.Snapshot{})
	none.CreatedAt = time.Time{}
	for name, test := range map[string]struct {
		code string
		w    *v1.Workspace
		want []string
	}{
		"failed":                   {"FAILED", &pod, []string{"diagnose", "delete"}},
		"failed without a pod":     {"FAILED", &none, []string{"diagnose"}},
		"timed out":                {"DEADLINE_EXCEEDED", &pod, []string{"diagnose", "provision", "delete"}},
		"timed out, nothing made":  {"DEADLINE_EXCEEDED", &none, []string{"provision"}},
		"timed out, nothing known": {"DEADLINE_EXCEEDED", nil, nil},
		"interrupted":              {"INTERRUPTED", &pod, []string{"provision", "delete"}},
		"interrupted, nothing yet": {"TERMINATED", nil, nil},
		"refused":                  {"CONFLICT", nil, nil},
	} {
		got := proposed(next(alice, v1.Result{Error: &v1.Error{Code: test.code, Workspace: test.w}}))
		for i, line := range got {
			got[i] = strings.Fields(line)[1]
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// How it ended is said once: by the headline.
func TestAnOutcomeIsSaidOnce(t *testing.T) {
	scheduling, none := workspace(v1.StageScheduling, v1.Snapshot{}), workspace(v1.StageUnknown, v1.Snapshot{})
	none.CreatedAt = time.Time{}
	ignoring := workspace(v1.StageStarting, v1.Snapshot{Cause: &v1.Cause{Message: "no image"}, Ignored: []string{"ImageNotFound"}})
	for name, test := range map[string]struct {
		e    v1.Error
		want string
	}{
		"interrupted":                {v1.Error{Code: "INTERRUPTED", Message: "interrupted", Workspace: &scheduling}, "interrupted after 10s: still Scheduling"},
		"terminated":                 {v1.Error{Code: "TERMINATED", Message: "interrupted", Workspace: &scheduling}, "interrupted after 10s: still Scheduling"},
		"interrupted before a stage": {v1.Error{Code: "INTERRUPTED", Message: "interrupted"}, "interrupted after 10s"},
		"timed out": {
			v1.Error{Code: "DEADLINE_EXCEEDED", Message: "timed out after 10s: still Scheduling", Workspace: &scheduling},
			"timed out after 10s: still Scheduling",
		},
		"timed out, with what was ignored": {
			v1.Error{Code: "DEADLINE_EXCEEDED", Message: "timed out after 10s: still Starting: no image; ignored on request: ImageNotFound", Workspace: &ignoring},
			"timed out after 10s: still Starting: no image; ignored on request: ImageNotFound",
		},
		"timed out at once": {
			v1.Error{Code: "DEADLINE_EXCEEDED", Message: "timed out after 10s: nothing is installed yet", Workspace: &none},
			"timed out after 10s: nothing is installed yet",
		},
		"timed out elsewhere": {v1.Error{Code: "DEADLINE_EXCEEDED", Message: "timed out after 10s"}, "timed out after 10s"},
	} {
		s := &script{}
		s.step(0, "identity", v1.StepBegun, "", 0)
		s.add(10*sc, v1.Event{Result: &v1.Result{Error: &test.e}})
		_, plain := told(t, s, ModePlain)
		live := strings.ToLower(strings.Join(strings.Fields(joinLines(screen(s, time.Hour, 100, plainLook))), " "))
		for look, text := range map[string]string{"plain": plain, "live": live} {
			if n := strings.Count(text, " after 10s"); n != 1 || strings.Count(text, "interrupted") > 1 {
				t.Errorf("%s, %s: said %d times:\n%s", name, look, n, text)
			}
		}
		if line := "error " + test.e.Code + ": " + test.want + "\n"; !strings.Contains(plain, line) || strings.Count(plain, "error") != 1 {
			t.Errorf("%s: want one line with %q:\n%s", name, line, plain)
		}
	}
}
