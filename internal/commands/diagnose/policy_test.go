package diagnose_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
)

// A diagnosis of a recording is made under the policy that is asked for.
func TestDiagnosePolicies(t *testing.T) {
	for _, test := range []struct {
		recording string
		args      []string
		verdict   v1.Verdict
		ignored   string
	}{
		{"pull-not-found", nil, v1.VerdictFailed, ""},
		{"pull-not-found", []string{"--policy", "patient"}, v1.VerdictFailed, ""},
		{"pull-not-found", []string{"--ignore-reason", "imagepullbackoff"}, v1.VerdictWaiting, "ImageNotFound"},
		{"crashloop-exit1", nil, v1.VerdictFailed, ""},
		{"crashloop-exit1", []string{"--crash-loop-threshold", "99"}, v1.VerdictWaiting, ""},
		{
			"crashloop-exit1",
			[]string{"--ignore-reason", "OOMKilled", "--ignore-reason", "CrashLoopBackOff"},
			v1.VerdictWaiting, "CrashLoop",
		},
		{"init-fail", nil, v1.VerdictFailed, ""},
		{"init-fail", []string{"--policy", "patient", "--crash-loop-threshold", "99"}, v1.VerdictWaiting, ""},
	} {
		file := recordings + test.recording + ".jsonl"
		d := diagnosis(t, "", append([]string{"-f", file}, test.args...)...)
		if d.Verdict != test.verdict || strings.Join(d.Ignored, ",") != test.ignored || d.Cause == nil {
			t.Errorf("%s %q: %s because of %+v, ignored %q", test.recording, test.args, d.Verdict, d.Cause, d.Ignored)
		}
		if test.ignored == "" {
			continue
		}
		if _, text, _ := offline(t, "",
			append([]string{"diagnose", "-f", file}, test.args...)...); !strings.Contains(text,
			"ignored on request: "+test.ignored) {
			t.Errorf("%s %q does not say what was ignored:\n%s", test.recording, test.args, text)
		}
	}
}

// The delay after which a pull is mentioned.
func TestPullDelay(t *testing.T) {
	file := filepath.Join(recordings, "ok-slow-pull.jsonl")
	pulls := func(delay string) bool {
		d := diagnosis(t, "", "-f", file, "--pull-delay", delay)
		return slices.ContainsFunc(d.Timeline, func(m v1.Moment) bool { return m.Stage == v1.StagePulling })
	}
	if !pulls("0s") || !pulls("8s") || pulls("1h") {
		t.Error("the delay of Pulling is not heeded")
	}
}

func TestPolicyFlags(t *testing.T) {
	for _, command := range []string{"provision", "diagnose"} {
		args := []string{command, "alice"}
		status, _, stderr := offline(t, "", append(args, "--ignore-reason", "Nonsense")...)
		if status != 2 || !strings.Contains(stderr, `unknown reason "Nonsense"`) ||
			!strings.Contains(stderr, "CrashLoopBackOff") {
			t.Errorf("%s: %d %s", command, status, stderr)
		}
		for flag, want := range map[string]string{
			"--policy": "patient", "--ignore-reason": "CrashLoop\n",
			"--grace-period": "10m", "--pull-delay": "8s",
		} {
			if _, stdout, _ := offline(t, "", "__complete", command, flag, ""); !strings.Contains(stdout, want) {
				t.Errorf("%s %s completes %q", command, flag, stdout)
			}
		}
	}
}
