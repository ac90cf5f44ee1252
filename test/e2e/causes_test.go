//go:build e2e

package e2e

import (
	"slices"
	"strings"
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
)

// Each cause that may pass is reported with what to do about it when it has lasted,
// and again when the time is up.
func TestCausesThatMayPass(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		blueprint, cause, hint string
	}{
		{"huge", "Unschedulable", "too little cpu left"},
		{"classless", "StorageClassMissing", "no-such-class"},
	} {
		t.Run(test.cause, func(t *testing.T) {
			w := newWorld(t)
			w.waits(test.cause, test.hint, "provision", "alice~"+test.blueprint)
		})
	}
}

// Of an injected workspace the workload's own containers count too. Their
// causes are reported as early: a final one ends the command.
func TestFinalCausesOfWorkloads(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		cause  string
		change func(spec, pod map[string]any)
		hint   string
		logs   string
	}{
		{"ConfigMissing", missingKey, "no-such-config", ""},
		{"InitFailed", failingInit, "exit code 3", "cannot prepare"},
	} {
		t.Run(test.cause, func(t *testing.T) {
			w := newWorld(t)
			web := w.workloadThatIsNot("deployment", 1, test.change)
			r := w.must(3, "provision", web.user("plain"), "-o", "json")
			doc := decode[v1.Error](w, r)
			if doc.Workspace == nil || doc.Workspace.Cause == nil || doc.Workspace.Cause.Code != test.cause {
				t.Errorf("%+v", doc)
			}
			w.contains(doc.Hint, test.hint)
			if test.logs != "" && (doc.Logs == nil || !slices.Contains(doc.Logs.Lines, test.logs)) {
				t.Errorf("the logs are %+v, want %q", doc.Logs, test.logs)
			}
		})
	}
}

// A cause that may pass is reported, and waited for.
func TestCausesOfWorkloadsThatMayPass(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		cause  string
		change func(spec, pod map[string]any)
		quota  bool
		hint   string
	}{
		{"ProbeFailed", badProbe, false, "/healthz"},
		{"VolumeMissingObject", missingVolume, false, "no-such-config"},
		{"QuotaExceeded", nil, true, "pods"},
	} {
		t.Run(test.cause, func(t *testing.T) {
			w := newWorld(t)
			web := w.workloadThatIsNot("deployment", 1, test.change)
			if test.quota {
				w.eventually("the pod is there", func() bool { return len(web.pods()) == 1 })
				w.limitPods("1")
			}
			w.waits(test.cause, test.hint, "provision", web.user("plain"))
		})
	}
}

func container(pod map[string]any) map[string]any {
	all, _ := pod["containers"].([]any)
	c, _ := all[0].(map[string]any)
	return c
}

func missingKey(_, pod map[string]any) {
	container(pod)["env"] = []any{map[string]any{
		"name": "COLOUR", "valueFrom": map[string]any{"configMapKeyRef": map[string]any{
			"name": "no-such-config",
			"key":  "colour",
		}},
	}}
}

func failingInit(_, pod map[string]any) {
	pod["initContainers"] = []any{map[string]any{
		"name": "prepare", "image": "docker.io/library/busybox:stable",
		"command": []any{"sh", "-c", "echo cannot prepare; exit 3"},
	}}
}

func badProbe(_, pod map[string]any) {
	container(pod)["readinessProbe"] = map[string]any{
		"httpGet": map[string]any{"path": "/healthz", "port": int64(8099)}, "periodSeconds": int64(1),
	}
}

func missingVolume(_, pod map[string]any) {
	pod["volumes"] = []any{map[string]any{"name": "config", "configMap": map[string]any{"name": "no-such-config"}}}
	container(pod)["volumeMounts"] = []any{map[string]any{"name": "config", "mountPath": "/config"}}
}

// waits runs a provisioning that waits for something until its time is up.
func (w *world) waits(code, hint string, args ...string) {
	w.Helper()
	r := w.must(5, append(args, "--timeout", "20s")...)
	live, end, _ := strings.Cut(r.stderr, "error DEADLINE_EXCEEDED")
	_, live, _ = strings.Cut(live, " hint: ")
	w.contains(live, hint)
	w.contains(end, hint)
	d := decode[v1.Diagnosis](w, w.must(0, "diagnose", args[len(args)-1], "-o", "json"))
	if d.Verdict != v1.VerdictWaiting || d.Cause == nil || d.Cause.Code != code {
		w.Errorf("%+v", d)
	}
}
