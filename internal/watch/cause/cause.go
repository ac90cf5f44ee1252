// Package cause is the catalogue of what keeps a workspace from running. Each
// family of causes is in one file: their codes, the evidence by which they are
// detected, whether they pass by themselves, and what to do about them. What a
// policy makes of what was detected is in judge.go.
package cause

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/watch/evidence"
)

// entry is what there is to say of a cause whatever it is found in.
type entry struct {
	code string
	// reasons are Kubernetes' own words for it, by which it can be ignored as well
	// as by its code.
	reasons []string
	// exact is true if a reason ignores only what Kubernetes called by that word.
	exact bool
	// person is true for what stays until a person changes it, however long it is
	// waited for. What fails at once need not say so.
	person bool
	// hint says what it means and what to do, for a reader who does not
	// know Kubernetes well. {why} is what why says; the other placeholders are About's.
	hint string
	why  func(v1.Cause, About) string

	explanation
}

// family is the causes of a file, which it is named by, and of those that stand beside it.
type family struct {
	name    string
	entries []entry
}

// families are in the order in which they are read about.
func families() []family {
	return []family{
		{"image", image()},
		{"start", start()},
		{"crash", slices.Concat(crash(), words(), hook())},
		{"readiness", slices.Concat(readiness(), slow())},
		{"scheduling", scheduling()},
		{"node", slices.Concat(node(), nodeState())},
		{"volume", slices.Concat(claim(), volume())},
		{"admission", admission()},
		{"rollout", slices.Concat(rollout(), workload())},
	}
}

// entries is the whole catalogue.
func entries() (all []entry) {
	for _, f := range families() {
		all = append(all, f.entries...)
	}
	return all
}

func entryOf(code string) entry {
	all := entries()
	if i := slices.IndexFunc(all, func(e entry) bool { return e.code == code }); i >= 0 {
		return all[i]
	}
	return entry{}
}

// Reasons are the names by which causes can be ignored: their codes, and
// Kubernetes' own reasons that are not among them. Both are sorted.
func Reasons() (codes, kubernetes []string) {
	for _, e := range entries() {
		codes, kubernetes = append(codes, e.code), append(kubernetes, e.reasons...)
	}
	slices.Sort(codes)
	slices.Sort(kubernetes)
	return codes, slices.Compact(kubernetes)
}

// Reason gives the proper spelling of a name by which a cause can be ignored;
// false if there is none of that name, whatever the case of its letters.
func Reason(name string) (proper string, ok bool) {
	codes, kubernetes := Reasons()
	for _, known := range slices.Concat(codes, kubernetes) {
		if strings.EqualFold(known, name) {
			return known, true
		}
	}
	return "", false
}

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

// names are all words by which a finding can be ignored.
func (f Finding) names() []string {
	names := []string{f.Code, f.Reason}
	for _, code := range []string{f.Code, f.General} {
		if e := entryOf(code); e.code != "" && !e.exact {
			names = append(append(names, code), e.reasons...)
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
