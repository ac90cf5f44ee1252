package watch

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/watchtest"
)

// What k8shell's provisioner calls a warning is one, whichever type its event has.
func TestWarningsOfK8shell(t *testing.T) {
	for _, reason := range []string{
		"FailedScheduling", "Unhealthy", "NodeNotReady", "FailedMount", "FailedAttachVolume", "FailedMapVolume",
		"ProvisioningFailed",
	} {
		for _, kind := range []string{corev1.EventTypeNormal, corev1.EventTypeWarning} {
			e := &corev1.Event{Reason: reason, Message: "no", Type: kind}
			for _, p := range []cause.Policy{cause.DefaultPolicy(), cause.K8shellPolicy()} {
				if !isWarning(e, circumstances{}, p) {
					t.Errorf("%s of type %s is no warning by %+v", reason, kind, p)
				}
			}
		}
	}
}

// The restarts at which a container that ends again and again is critical: from the second with k8shell's thresholds,
// from the third with berth's.
func TestThresholdOfK8shell(t *testing.T) {
	for _, test := range []struct {
		restarts int32
		policy   cause.Policy
		want     v1.Stage
	}{
		{1, cause.K8shellPolicy(), v1.StageStarting},
		{2, cause.K8shellPolicy(), v1.StageFailed},
		{2, cause.DefaultPolicy(), v1.StageStarting},
		{3, cause.DefaultPolicy(), v1.StageFailed},
	} {
		ended := watchtest.App(watchtest.Waits("CrashLoopBackOff", "back-off"), func(s *corev1.ContainerStatus) {
			s.RestartCount = test.restarts
			s.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error"}
		})
		s := stateOf(watchtest.NewPod("web", "1", watchtest.OnNode, ended).Pod)
		if got, _ := Analyze(s, test.policy, watchtest.After(time.Minute)); got.Stage != test.want {
			t.Errorf("after %d restarts, threshold %d: %s", test.restarts, test.policy.CrashLoopThreshold, got.Stage)
		}
	}
}

// With k8shell's thresholds, a pod that waits for its volumes for 30 s is a warning, and one that is not ready after a
// minute. Berth's own policy says neither: it names what is waited for.
func TestSlowWarnings(t *testing.T) {
	const second = time.Second
	theirs := cause.K8shellPolicy()
	ready := []func(*corev1.Pod){watchtest.OnNode, watchtest.AppReady}
	creating := []func(*corev1.Pod){watchtest.OnNode, watchtest.App(watchtest.Waits("ContainerCreating", ""))}
	withClaim := append([]func(*corev1.Pod){mounts("data")}, creating...)
	for name, test := range map[string]struct {
		pod    []func(*corev1.Pod)
		event  string
		at     time.Duration
		policy cause.Policy
		want   []string
	}{
		"before 30 s":             {withClaim, "", 30*second - 1, theirs, nil},
		"after 30 s":              {withClaim, "", 30 * second, theirs, []string{reasonMounting}},
		"without volumes":         {creating, "", 59 * second, theirs, nil},
		"mounted":                 {withClaim, "Pulled", 59 * second, theirs, nil},
		"after a minute":          {withClaim, "", time.Minute, theirs, []string{reasonMounting, reasonTakingLong}},
		"without a node":          {nil, "", time.Minute, theirs, []string{reasonTakingLong}},
		"just not ready any more": {notReadySince(time.Hour), "", time.Hour + 59*second, theirs, nil},
		"not ready again for long": {
			notReadySince(time.Hour), "", time.Hour + time.Minute, theirs, []string{reasonTakingLong},
		},
		"that runs":             {ready, "", time.Hour, theirs, nil},
		"by berth's own policy": {withClaim, "", time.Hour, cause.DefaultPolicy(), nil},
	} {
		s := stateOf(watchtest.NewPod("web", "1", test.pod...).Pod)
		if test.event != "" {
			e := warning("app", test.event, "it is there")
			e.Type = corev1.EventTypeNormal
			s = stateOf(watchtest.NewPod("web", "1", test.pod...).Pod, e)
		}
		got, next := Analyze(s, test.policy, watchtest.After(test.at))
		var reasons []string
		for _, w := range got.Warnings {
			reasons = append(reasons, w.Reason)
		}
		if !slices.Equal(reasons, test.want) {
			t.Errorf("%s: %q, want %q", name, reasons, test.want)
		}
		if name == "before 30 s" && !next.Equal(watchtest.After(30*second)) {
			t.Errorf("%s: it asks for another reading at %s", name, next)
		}
	}
}

// notReadySince is a pod that was ready until a time.
func notReadySince(at time.Duration) []func(*corev1.Pod) {
	return []func(*corev1.Pod){watchtest.OnNode, watchtest.App(watchtest.Runs(0)), func(pod *corev1.Pod) {
		pod.Status.Phase = corev1.PodRunning
		watchtest.Set(pod, corev1.PodReady, corev1.ConditionFalse, at)
	}}
}
