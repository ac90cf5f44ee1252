//go:build e2e

package e2e

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/watch/cause"
)

// soon is what is promised: how long after the change that decides it a verdict
// may take, and how long after the first word of a reason it may take until
// somebody is told.
const soon = 2 * time.Second

// Each cause that is final ends the command within two seconds of the change
// that made it so, with status 3, the cause, what to do about it and, where a
// container ran, its last words.
func TestFinalCauses(t *testing.T) {
	for _, test := range []struct {
		blueprint, cause string
		critical         sign
		hint, logs       string
	}{
		{"wrong-tag", "ImageNotFound", waitsFor("ErrImagePull", "ImagePullBackOff"), `Check "image"`, ""},
		{"private", "ImagePullDenied", waitsFor("ErrImagePull", "ImagePullBackOff"), "pull secret", ""},
		{"crashing", "CrashLoop", restarts(3), "exit code 1", "nodenv: not found"},
		{"hungry", "OOMKilled", killedForMemory, "32Mi", ""},
		{"unbindable", "VolumeUnbound", unbound, "storage", ""},
	} {
		t.Run(test.cause, func(t *testing.T) {
			w := newWorld(t)
			witness := w.witness(test.critical)
			run := w.start("provision", "alice~"+test.blueprint, "-o", "json")
			r := run.wait(90 * time.Second)
			r.mustBe(w, 3)
			witness.within(soon, time.Now(), "the command's end")
			doc := decode[v1.Error](w, r)
			if doc.Code != "FAILED" || doc.Workspace == nil || doc.Workspace.Cause == nil || doc.Workspace.Cause.Code != test.cause {
				t.Errorf("%+v", doc)
			}
			w.contains(doc.Hint, test.hint)
			if test.logs != "" && (doc.Logs == nil || !slices.Contains(doc.Logs.Lines, test.logs)) {
				t.Errorf("the logs are %+v, want %q", doc.Logs, test.logs)
			}
		})
	}
}

// Each cause that may pass is told with what to do about it when it has lasted,
// and again when the time is up.
func TestCausesThatMayPass(t *testing.T) {
	for _, test := range []struct {
		blueprint, cause string
		known            sign
		hint             string
	}{
		{"huge", "Unschedulable", says("FailedScheduling"), "too little cpu left"},
		{"classless", "StorageClassMissing", says("ProvisioningFailed"), "no-such-class"},
	} {
		t.Run(test.cause, func(t *testing.T) {
			w := newWorld(t)
			w.waits(w.witness(test.known), test.cause, test.hint, "provision", "alice~"+test.blueprint)
		})
	}
}

// Of an injected workspace the workload's own containers count too. What is
// wrong with them is told as soon: what is final ends the command.
func TestFinalCausesOfWorkloads(t *testing.T) {
	for _, test := range []struct {
		cause    string
		change   func(spec, pod map[string]any)
		critical sign
		hint     string
		logs     string
	}{
		{"ConfigMissing", missingKey, waitsFor("CreateContainerConfigError"), "no-such-config", ""},
		{"InitFailed", failingInit, initEnded(3), "exit code 3", "cannot prepare"},
	} {
		t.Run(test.cause, func(t *testing.T) {
			w := newWorld(t)
			web := w.workloadThatIsNot("deployment", 1, test.change)
			witness := w.witness(test.critical)
			r := w.start("provision", web.user("plain"), "-o", "json").wait(90 * time.Second)
			r.mustBe(w, 3)
			witness.within(soon, time.Now(), "the command's end")
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

// What may pass is told, and waited for.
func TestCausesOfWorkloadsThatMayPass(t *testing.T) {
	for _, test := range []struct {
		cause  string
		change func(spec, pod map[string]any)
		quota  bool
		known  sign
		hint   string
	}{
		{"ProbeFailed", badProbe, false, says("Unhealthy"), "/healthz"},
		{"VolumeMissingObject", missingVolume, false, says("FailedMount"), "no-such-config"},
		{"QuotaExceeded", nil, true, says("FailedCreate"), "pods"},
	} {
		t.Run(test.cause, func(t *testing.T) {
			w := newWorld(t)
			web := w.workloadThatIsNot("deployment", 1, test.change)
			if test.quota {
				w.eventually("the pod is there", 30*time.Second, func() bool { return len(web.pods()) == 1 })
				w.limitPods("1")
			}
			w.waits(w.witness(test.known), test.cause, test.hint, "provision", web.user("plain"))
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
		"name": "COLOUR", "valueFrom": map[string]any{"configMapKeyRef": map[string]any{"name": "no-such-config", "key": "colour"}},
	}}
}

func failingInit(_, pod map[string]any) {
	pod["initContainers"] = []any{map[string]any{
		"name": "prepare", "image": "docker.io/library/busybox:stable", "command": []any{"sh", "-c", "echo cannot prepare; exit 3"},
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

func initEnded(code int32) sign {
	return func(o any) bool {
		pod, ok := o.(*corev1.Pod)
		return ok && slices.ContainsFunc(pod.Status.InitContainerStatuses, func(s corev1.ContainerStatus) bool {
			ended := s.State.Terminated
			if ended == nil {
				ended = s.LastTerminationState.Terminated
			}
			return ended != nil && ended.ExitCode == code && pod.Labels[kube.LabelInjected] == "true"
		})
	}
}

// waits runs a provisioning that waits for something until its time is up.
func (w *world) waits(witness *witness, code, hint string, args ...string) {
	w.Helper()
	run := w.start(append(args, "--timeout", "12s")...)
	witness.seen(30 * time.Second)
	run.waitFor(" hint: ")
	witness.within(soon+cause.DefaultPolicy().CauseDelay, time.Now(), "the hint")
	told := run.stderr.String()
	r := run.wait(30 * time.Second)
	r.mustBe(w, 5)
	_, live, _ := strings.Cut(told, " hint: ")
	w.contains(live, hint)
	_, end, _ := strings.Cut(r.stderr, "error DEADLINE_EXCEEDED")
	w.contains(end, hint)
	d := decode[v1.Diagnosis](w, w.must(0, "diagnose", args[len(args)-1], "-o", "json"))
	if d.Verdict != v1.VerdictWaiting || d.Cause == nil || d.Cause.Code != code {
		w.Errorf("%+v", d)
	}
}

// The signs by which the test itself recognizes the change that decides.

func waitsFor(reasons ...string) sign {
	return ofContainers(func(s corev1.ContainerStatus) bool {
		return s.State.Waiting != nil && slices.Contains(reasons, s.State.Waiting.Reason)
	})
}

func restarts(n int32) sign {
	return ofContainers(func(s corev1.ContainerStatus) bool { return s.RestartCount >= n })
}

func killedForMemory(o any) bool {
	return ofContainers(func(s corev1.ContainerStatus) bool {
		return s.State.Terminated != nil && s.State.Terminated.Reason == "OOMKilled"
	})(o)
}

func unbound(o any) bool { return says("FailedBinding")(o) }

func ofContainers(is func(corev1.ContainerStatus) bool) sign {
	return func(o any) bool {
		pod, ok := o.(*corev1.Pod)
		return ok && (slices.ContainsFunc(pod.Status.ContainerStatuses, is) || slices.ContainsFunc(pod.Status.InitContainerStatuses, is))
	}
}

func says(reason string) sign {
	return func(o any) bool {
		event, ok := o.(*corev1.Event)
		return ok && event.Reason == reason
	}
}
