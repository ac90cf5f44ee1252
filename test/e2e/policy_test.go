//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
)

// A registry that refuses the connection fails at once under fast; under patient
// it is a warning for as long as the grace period, and then it fails, too.
func TestPatientPolicy(t *testing.T) {
	w := newWorld(t)
	fast := w.must(3, "provision", "alice~refusing", "-o", "json")
	if doc := decode[v1.Error](w, fast); doc.Workspace.Cause.Code != "RegistryUnreachable" {
		t.Errorf("fast: %+v", doc.Workspace.Cause)
	}
	w.must(0, "delete", "alice~refusing")

	r := w.must(3, "provision", "alice~refusing", "--policy", "patient", "--grace-period", "6s")
	w.contains(r.stderr, "warning", "connection refused", "did not pass within 6s")
	one := decode[v1.Diagnosis](w, w.must(0, "diagnose", "alice~refusing", "-o", "json", "--policy", "patient"))
	if one.Verdict != v1.VerdictWaiting || one.Cause == nil ||
		!strings.Contains(one.Cause.Message, "may pass: waiting up to 10m") {
		t.Errorf("within the grace period it is %s because of %+v", one.Verdict, one.Cause)
	}
	if !slices.ContainsFunc(one.Warnings,
		func(w v1.Warning) bool { return strings.Contains(w.Message, "connection refused") }) {
		t.Errorf("the warnings are %+v", one.Warnings)
	}
}

// The policy can be set in the configuration file.
func TestPolicyOfTheFile(t *testing.T) {
	w := newWorld(t)
	file := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(file, []byte("policy: {name: patient, gracePeriod: 2s}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := w.command("provision", "alice~refusing")
	cmd.Env = append(cmd.Env, "BERTH_CONFIG="+file)
	r := w.finish(cmd)
	r.mustBe(w, 3)
	w.contains(r.stderr, "did not pass within 2s")
}

// A reason that is ignored fails nothing; the time-out says that it was.
func TestIgnoreReason(t *testing.T) {
	w := newWorld(t)
	w.must(0, "provision", "alice~wrong-tag", "--no-wait", "--ignore-reason", "ErrImagePull")
	w.waitForPod("alice~wrong-tag", waitsFor("ErrImagePull", "ImagePullBackOff"))
	for _, reason := range []string{"imagenotfound", "ErrImagePull"} {
		r := w.must(5, "provision", "alice~wrong-tag", "--ignore-reason", reason, "--timeout", "15s", "-o", "json")
		doc := decode[v1.Error](w, r)
		w.contains(doc.Message, "timed out after 15s", "not found", "ignored on request: ImageNotFound")
		if doc.Code != "DEADLINE_EXCEEDED" || !slices.Equal(doc.Workspace.Ignored, []string{"ImageNotFound"}) {
			t.Errorf("%+v", doc)
		}
	}
	r := w.must(2, "provision", "alice", "--ignore-reason", "Nonsense")
	w.contains(r.stderr, `"Nonsense"`, "ImageNotFound", "ErrImagePull")
}
