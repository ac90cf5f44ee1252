// Package detect finds out what keeps a pod or a workload from running: functions of evidence, a file a family, of
// which none calls those of another. A finding is not a failure yet, and there may be several: package judge chooses.
package detect

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/evidence"
)

// unhealthy is the reason of the events about probes.
const unhealthy = "Unhealthy"

// of makes a finding about a container.
func of(c evidence.Container, code, reason, format string, args ...any) *cause.Finding {
	return &cause.Finding{Reason: reason, Cause: v1.Cause{
		Code:      code,
		Message:   "container " + c.Name + ": " + fmt.Sprintf(format, args...),
		Container: c.Name,
	}}
}

// exited makes a finding about an instance of a container that has ended.
func exited(c evidence.Container, code string, t *corev1.ContainerStateTerminated, text string) *cause.Finding {
	f := of(c, code, t.Reason, "%s", text)
	f.At = t.FinishedAt.Time
	f.ExitCode = new(int(t.ExitCode))
	return withRestarts(f, c)
}

// withRestarts says how often the container was restarted, if it was.
func withRestarts(f *cause.Finding, c evidence.Container) *cause.Finding {
	if n := c.Status.RestartCount; n > 0 {
		f.Restarts = new(int(n))
	}
	return f
}

// memoryText is what is said of a container that has run out of memory, be it at its start.
func memoryText(c evidence.Container) string {
	if c.MemoryLimit == "" {
		return "ran out of memory (OOMKilled); " + cause.NoLimit
	}
	return "ran out of memory (OOMKilled)" + cause.LimitIs + c.MemoryLimit
}

// ofPod makes a finding about a pod as a whole.
func ofPod(p evidence.Pod, code, message string) *cause.Finding {
	return &cause.Finding{Cause: v1.Cause{Code: code, Message: message, Object: p.Ref()}}
}

// ofEvent makes a finding of an event about a pod as a whole.
func ofEvent(p evidence.Pod, code string, e *corev1.Event) *cause.Finding {
	f := ofPod(p, code, evidence.Text(e))
	f.Reason, f.Begun = e.Reason, evidence.FirstSeen(e)
	return f
}
