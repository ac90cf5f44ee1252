package watch

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
)

// whyUnscheduled is the scheduler's reason, from the condition; the event comes
// a moment before it.
func (r *reading) whyUnscheduled() *finding {
	text, code := "", CauseUnschedulable
	var begun time.Time
	if c := kube.Condition(r.pod, corev1.PodScheduled); c != nil && c.Status == corev1.ConditionFalse {
		text, begun = c.Message, c.LastTransitionTime.Time
		if c.Reason == corev1.PodReasonSchedulingGated {
			code = CauseSchedulingGated
		}
	} else if e := latest(r.events, "FailedScheduling"); e != nil {
		text, begun = textOf(e), firstSeen(e)
	}
	if text == "" {
		return nil
	}
	text = shortSchedule(text)
	if strings.HasPrefix(text, "persistentvolumeclaim ") {
		code = CauseClaimMissing
	}
	if growing := r.growing(); growing != nil {
		text += "; a node is being added: " + textOf(growing)
	}
	return &finding{
		cause:  v1.Cause{Code: code, Message: text, Object: reference(KindPod, r.pod.Name)},
		reason: "FailedScheduling", begun: begun,
	}
}

// growing is the autoscaler's event that a node is on its way, unless it has
// changed its mind since. (TriggeredScaleUp is Cluster Autoscaler's, Nominated
// is Karpenter's.)
func (r *reading) growing() *corev1.Event {
	e := latest(r.events, "TriggeredScaleUp", "Nominated", "NotTriggerScaleUp")
	if e == nil || e.Reason == "NotTriggerScaleUp" {
		return nil
	}
	return e
}

// pendingClaim is the first claim that waits for something to be mended.
func (r *reading) pendingClaim() *finding {
	for _, c := range r.claims {
		if f := c.waitsFor(); f != nil {
			return f
		}
	}
	return nil
}

// whyWaiting is what is known of why a pod that has a node does not get on.
func (r *reading) whyWaiting() *finding {
	if !r.sandboxed() {
		if f := r.whyUnmounted(); f != nil {
			return f
		}
		if e := latest(r.events, "FailedCreatePodSandBox"); e != nil {
			return r.podFinding(CauseSandboxFailed, e)
		}
	}
	for _, c := range r.containers {
		if f := c.whyUnready(); f != nil {
			return f
		}
	}
	if gate := r.closedGate(); gate != "" && r.allReady() {
		return &finding{begun: r.since(corev1.ContainersReady), cause: v1.Cause{
			Code:    CauseReadinessGate,
			Message: "every container is ready, but not the readiness gate " + gate,
			Object:  reference(KindPod, r.pod.Name),
		}}
	}
	return nil
}

func (r *reading) allReady() bool {
	for _, c := range r.containers {
		if c.serves() && !c.ready() {
			return false
		}
	}
	return true
}

// sandboxed is true once volumes are mounted and the network is up.
func (r *reading) sandboxed() bool {
	if c := kube.Condition(r.pod, corev1.PodReadyToStartContainers); c != nil {
		return c.Status == corev1.ConditionTrue
	}
	return r.pod.Status.PodIP != ""
}

var missingObject = regexp.MustCompile(`(?:configmap|secret) "[^"]*" not found`)

// whyUnmounted reads the latest event about mounting. Once or twice is usual, and
// "not registered" is the kubelet's cache warming up.
func (r *reading) whyUnmounted() *finding {
	if e := r.multiAttach(); e != nil {
		return r.podFinding(CauseVolumeNotMounted, e) // the kubelet's time-outs after it say less
	}
	e := latest(r.events, "FailedMount", "FailedAttachVolume")
	switch {
	case e == nil, strings.Contains(e.Message, "not registered"), passing(e.Message):
		return nil
	case missingObject.MatchString(e.Message):
		return r.podFinding(CauseVolumeMissingObject, e)
	case Count(e) > 2:
		return r.podFinding(CauseVolumeNotMounted, e)
	}
	return nil
}

// podFinding is what an event says about the pod as a whole.
func (r *reading) podFinding(code string, e *corev1.Event) *finding {
	return &finding{reason: e.Reason, begun: firstSeen(e), cause: v1.Cause{
		Code:    code,
		Message: textOf(e),
		Object:  reference(KindPod, r.pod.Name),
	}}
}

// whyUnready: the container was restarted, its probe fails, or the kubelet has
// trouble that should pass.
func (c container) whyUnready() *finding {
	if c.ready() || c.init && c.initialized() && !c.sidecar {
		return nil
	}
	if c.status.State.Running != nil {
		return c.probing()
	}
	if reason, message, _ := c.waiting(); message != "" && reason != reasonCrashLoopBackOff {
		f, ignored := c.brokenWait()
		if !ignored {
			f = c.finding(passingCode(reason), reason, "%s", message)
		}
		return &f
	}
	if t := c.ended(); t != nil && c.status.RestartCount > 0 || t != nil && t.ExitCode != 0 {
		text := fmt.Sprintf("ended with exit code %d", t.ExitCode)
		if n := int(c.status.RestartCount); n > 0 {
			text += " after " + plural(n, "restart")
		}
		f := c.exited(CauseContainerExited, t, text)
		return &f
	}
	return nil
}

// passingCode is for reasons that are read as passing because of their message.
func passingCode(reason string) string {
	if reason == "CreateContainerConfigError" {
		return CauseConfigMissing
	}
	return CauseStartFailed
}

// probing is the probe that says no to the instance that runs.
func (c container) probing() *finding {
	e := latest(c.events, "Unhealthy")
	if e == nil || !notBefore(lastSeen(e), c.status.State.Running.StartedAt) {
		return nil
	}
	if strings.Contains(e.Message, "errored and resulted in unknown state") {
		return nil // it could not be asked, because its container was just ending
	}
	f := c.finding(CauseProbeFailed, e.Reason, "%s", textOf(e))
	f.begun = later(firstSeen(e), c.status.State.Running.StartedAt.Time)
	if n := c.status.RestartCount; n > 0 {
		f.cause.Restarts = number(n)
	}
	return &f
}

// hookText names the hook for which the kubelet ends the container.
func (c container) hookText() string {
	if e := latest(c.events, "FailedPostStartHook"); e != nil {
		return "; its post-start hook failed: " + textOf(e)
	}
	return ""
}

// probeText names the probe for which the kubelet kills the container.
func (c container) probeText() string {
	killed, probe := latest(c.events, "Killing"), latest(c.events, "Unhealthy")
	if killed == nil || probe == nil {
		return ""
	}
	return "; " + textOf(probe)
}

func latest(events []*corev1.Event, reasons ...string) *corev1.Event {
	for _, event := range slices.Backward(events) {
		if slices.Contains(reasons, event.Reason) {
			return event
		}
	}
	return nil
}
