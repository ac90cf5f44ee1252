package judge

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/evidence"
	"github.com/berthdev/berth/internal/watch/watchtest"
)

// podOf is the pod web with the events about it.
func podOf(pod watchtest.MadePod, events ...*corev1.Event) evidence.Pod {
	return evidence.NewPod(pod.Pod, events, nil)
}

// appThat is the pod web on a node, its container in a status.
func appThat(changes ...func(*corev1.ContainerStatus)) evidence.Pod {
	return podOf(watchtest.NewPod("web", "1", watchtest.OnNode, watchtest.App(changes...)))
}

func warning(container, reason, message string) *corev1.Event {
	return watchtest.Event("web", "1", container, reason, message).Warn().Event
}

func patient() cause.Policy {
	p := cause.DefaultPolicy()
	p.Name, p.GracePeriod = cause.Patient, time.Minute
	return p
}

// compare checks a finding against "Code: words"; empty means no finding.
func compare(t *testing.T, got *cause.Finding, want string) {
	t.Helper()
	code, words, _ := strings.Cut(want, ": ")
	switch {
	case got == nil && want == "":
	case got == nil:
		t.Errorf("no cause, want %s", want)
	case got.Code != code || !strings.Contains(got.Message, words):
		t.Errorf("cause %s: %s, want %s", got.Code, got.Message, want)
	}
}

// A reason is ignored by the cause's code and by Kubernetes' words, in any case.
func TestIgnored(t *testing.T) {
	pull := appThat(watchtest.Waits("ImagePullBackOff", "x/app:1: not found"))
	loop := appThat(watchtest.Runs(time.Second), watchtest.ExitedBefore(1, "Error", 9))
	start := appThat(watchtest.Waits("RunContainerError", "exec /app: exec format error"))
	for _, test := range []struct {
		pod     evidence.Pod
		reason  string
		ignored string // empty if that does not ignore it
	}{
		{pull, "ImageNotFound", "ImageNotFound"},
		{pull, "imagenotfound", "ImageNotFound"},
		{pull, "ImagePullBackOff", "ImageNotFound"},
		{pull, "errimagepull", "ImageNotFound"},
		{pull, "ImagePullDenied", ""},
		{loop, "CrashLoop", "CrashLoop"},
		{loop, "CrashLoopBackOff", "CrashLoop"},
		{loop, "BackOff", "CrashLoop"},
		{start, "RunContainerError", "ExecFormat"},
		{start, "CreateContainerError", ""},
	} {
		p := cause.DefaultPolicy()
		p.IgnoreReasons = []string{test.reason}
		got := Pod(test.pod, p, watchtest.After(time.Minute))
		if (got.Failed != nil) != (test.ignored == "") || strings.Join(got.IgnoredCodes(), ",") != test.ignored {
			t.Errorf("%s: failed %+v, ignored %q, want %q", test.reason, got.Failed, got.IgnoredCodes(), test.ignored)
		}
		if test.ignored != "" != got.Tolerates("app") {
			t.Errorf("%s tolerates the container: %t", test.reason, got.Tolerates("app"))
		}
	}
}

// What was found after the first failure does not count, and each code once.
func TestItEndsAtTheFirstFailure(t *testing.T) {
	container := func(name, reason, message string) func(*corev1.Pod) {
		return func(pod *corev1.Pod) {
			pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: name, Image: "x/" + name + ":1"})
			pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses,
				watchtest.Status(name, []func(*corev1.ContainerStatus){watchtest.Waits(reason, message)}))
		}
	}
	pod := podOf(watchtest.NewPod("web", "1", watchtest.OnNode, container("a", "ErrImagePull", "not found"),
		container("b", "ErrImagePull", "not found"),
		container("c", "CreateContainerConfigError", `secret "s" not found`),
		container("d", "ErrImagePull", "not found")))
	p := cause.DefaultPolicy()
	p.IgnoreReasons = []string{cause.ImageNotFound}
	got := Pod(pod, p, watchtest.Epoch)
	compare(t, got.Failed, "ConfigMissing: container c")
	if len(got.Ignored) != 2 || !slices.Equal(got.IgnoredCodes(), []string{cause.ImageNotFound}) {
		t.Errorf("ignored %+v", got.Ignored)
	}
	if !got.Tolerates("b") || got.Tolerates("d") || got.Tolerates("") {
		t.Error("it tolerates what it did not look at")
	}
}

// The grace period counts from when a cause began, or from the last progress.
func TestGracePeriod(t *testing.T) {
	refuses := warning("app", "Failed", pullError("connection refused"))
	pod := podOf(watchtest.NewPod("web", "1", watchtest.OnNode), refuses)
	for after, waits := range map[time.Duration]bool{59 * time.Second: true, 60 * time.Second: false} {
		got := Pod(pod, patient(), watchtest.After(after))
		if waits != (got.Failed == nil) || waits != got.Next.Equal(watchtest.After(time.Minute)) ||
			waits != got.Tolerates("app") {
			t.Errorf("after %s: %+v", after, got)
		}
		if text := " (did not pass within 1m)"; !waits && !strings.HasSuffix(got.Failed.Message, text) {
			t.Errorf("%q does not say%s", got.Failed.Message, text)
		}
	}
	moved := podOf(watchtest.NewPod("web", "1", watchtest.OnNode), refuses,
		watchtest.Event("web", "1", "", "SuccessfulAttachVolume", "").At(watchtest.After(30*time.Second)).Event)
	if got := Pod(moved, patient(), watchtest.After(80*time.Second)); got.Failed != nil ||
		!got.Next.Equal(watchtest.After(90*time.Second)) {
		t.Errorf("after progress: %+v", got)
	}
}

// A grace period is told as people say it.
func TestGraceText(t *testing.T) {
	for period, want := range map[time.Duration]string{
		10 * time.Minute: "10m", time.Minute: "1m", 90 * time.Second: "1m30s", 30 * time.Second: "30s", 0: "0s",
		time.Hour: "60m",
	} {
		if got := graceText(period); got != want {
			t.Errorf("%s: %q, want %q", period, got, want)
		}
	}
}
