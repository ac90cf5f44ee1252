// Package cause detects what keeps a workspace from running. Each family of causes
// has its codes, the evidence by which they are detected, and whether they pass by
// themselves. What there is to read about them is in package catalog. What a policy
// makes of what was detected is in judge.go.
package cause

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/watch/cause/catalog"
	"github.com/berthdev/berth/internal/watch/evidence"
)

// Finding is a cause that was detected.
type Finding struct {
	v1.Cause
	Reason string // Kubernetes' own word for it
	// General is the code that it has as one of many, such as CrashLoop, where Code says
	// why the container ended; empty otherwise.
	General string
	At      time.Time // when it failed
	Passes  bool      // it is known to pass by itself, sooner or later
	Begun   time.Time // when it began, as far as is known
}

// ignoredBy is true for what a policy ignores. The catalogue is read only if there is one that ignores anything.
func (f Finding) ignoredBy(policy Policy) bool {
	return len(policy.IgnoreReasons) > 0 && policy.Ignores(f.names()...)
}

// names are all words by which a finding can be ignored.
func (f Finding) names() []string {
	names := []string{f.Code, f.Reason}
	for _, code := range []string{f.Code, f.General} {
		if e := catalog.Lookup(code); e.Code != "" && !e.Exact {
			names = append(append(names, code), e.Reasons...)
		}
	}
	return names
}

// of makes a finding about a container.
func of(c evidence.Container, code, reason, format string, args ...any) Finding {
	return Finding{Reason: reason, Cause: v1.Cause{
		Code:      code,
		Message:   "container " + c.Name + ": " + fmt.Sprintf(format, args...),
		Container: c.Name,
	}}
}

// ofPod makes a finding about a pod as a whole.
func ofPod(p evidence.Pod, code, message string) *Finding {
	return &Finding{Cause: v1.Cause{Code: code, Message: message, Object: p.Ref()}}
}

// ofEvent makes a finding of an event about a pod as a whole.
func ofEvent(p evidence.Pod, code string, e *corev1.Event) *Finding {
	f := ofPod(p, code, evidence.Text(e))
	f.Reason, f.Begun = e.Reason, evidence.FirstSeen(e)
	return f
}

// Begins is when a finding began; where nothing says so, at the pod's last
// progress.
func (f Finding) Begins(p evidence.Pod) time.Time {
	if begun := evidence.Later(f.Begun, f.At); !begun.IsZero() {
		return begun
	}
	return p.ProgressedAt()
}

func number(n int32) *int {
	i := int(n)
	return &i
}
