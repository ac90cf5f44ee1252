// Package cause is what can keep a workspace from running, and what is said about it: the codes, the findings and
// the policies that are handed from room to room, and the hints. Package detect makes findings of evidence, package
// judge says which of them is a failure. What there is to read about a code whatever it is found in is in package
// catalog.
package cause

import (
	"strings"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/pattern"
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

// IgnoredBy is true for what a policy ignores. The catalogue is read only if there is one that ignores anything.
func (f Finding) IgnoredBy(policy Policy) bool {
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

// Begins is when a finding began; where nothing says so, at the pod's last
// progress.
func (f Finding) Begins(p evidence.Pod) time.Time {
	if begun := evidence.Later(f.Begun, f.At); !begun.IsZero() {
		return begun
	}
	return p.ProgressedAt()
}

// NeedsPerson is true for what will not resolve by itself: it stays
// until somebody creates what is missing, or makes room.
func (f Finding) NeedsPerson() bool { return !f.Passes && catalog.Lookup(f.Code).Person }

// IsConsequence is true for a cause that only says that the pods do not get on: what keeps
// one of them says more.
func (f Finding) IsConsequence() bool { return f.Code == ProgressDeadline }

// The phrases by which a hint recognizes what detection has put into a message, or what the cluster has said.
const (
	// NodeIsAdded is between what no node has and the autoscaler's word on it.
	NodeIsAdded = "; a node is being added: "
	// NodeNotAdded is between what no node has and why the autoscaler adds none.
	NodeNotAdded = "; no node is added: "
	// NoClassWanted follows what is said of a claim that is for a volume that exists already.
	NoClassWanted = "; the claim wants no class"
	// OfVolume follows the image of a volume.
	OfVolume = " of a volume"
	// LimitIs and NoLimit say what memory a container may use.
	LimitIs = ", its limit is "
	NoLimit = "it has no memory limit of its own"

	NoObject pattern.Expr = `(configmap|secret) "([^"]*)" not found`
	// FailedVolume names the volume that a message is about.
	FailedVolume pattern.Expr = `failed for volume "([^"]+)"`

	NoSuchKey pattern.Expr = `references non-existent (secret|config) key: (\S+)`
)

// WaitsForVolume is true for what the scheduler says of a pod whose claims are not bound yet.
func WaitsForVolume(message string) bool {
	return strings.Contains(message, "unbound immediate PersistentVolumeClaims")
}
