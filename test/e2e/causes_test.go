//go:build e2e

package e2e

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
)

// soon is how long after the change that decides it a verdict may take, and how
// long after the first word of a reason it may take until somebody is told.
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

// Each cause that may pass is told with what to do about it, within two seconds
// of the cluster's first word about it, and again when the time is up.
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

// waits runs a provisioning that waits for something until its time is up.
func (w *world) waits(witness *witness, cause, hint string, args ...string) {
	w.Helper()
	run := w.start(append(args, "--timeout", "12s")...)
	witness.seen(30 * time.Second)
	run.waitFor(" hint: ")
	witness.within(soon, time.Now(), "the hint")
	told := run.stderr.String()
	r := run.wait(30 * time.Second)
	r.mustBe(w, 5)
	w.contains(told[strings.Index(told, " hint: "):], hint)
	end := r.stderr[strings.Index(r.stderr, "error DEADLINE_EXCEEDED"):]
	w.contains(end, hint)
	d := decode[v1.Diagnosis](w, w.must(0, "diagnose", args[len(args)-1], "-o", "json"))
	if d.Verdict != v1.VerdictWaiting || d.Cause == nil || d.Cause.Code != cause {
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
