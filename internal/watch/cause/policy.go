package cause

import (
	"slices"
	"strings"
	"time"
)

// The names of the policies.
const (
	// Fast fails on everything that the flow's severity table calls critical, as
	// soon as it is seen.
	Fast = "fast"
	// Patient gives what is known to pass a grace period: for clusters that grow by
	// themselves, and for registries that are not always there.
	Patient = "patient"
)

// SilentAfter is how long nothing is said of a pod until that is a cause: schedulers
// and kubelets answer within seconds.
const SilentAfter = time.Minute

// Policies are the names that there are.
func Policies() []string { return []string{Fast, Patient} }

// Policy is what counts as a failure and when. Its defaults are the
// provisioning flow's.
type Policy struct {
	// Name is Fast or Patient.
	Name string
	// PullDelay is how long an image is pulled before it is mentioned: images
	// that are on the node already are "pulled" in a moment.
	PullDelay time.Duration
	// CauseDelay is how long a stage must have waited for something before its
	// cause is shown; until then the cause is tentative.
	CauseDelay time.Duration
	// CrashLoopThreshold is the number of restarts of one container that are
	// still a hiccup; one more is a crash loop. Under Patient it holds for init
	// containers, too.
	CrashLoopThreshold int
	// RecoveryTime is how long a container must have been ready for the crashes
	// of earlier instances to be ignored.
	RecoveryTime time.Duration
	// GracePeriod is how long Patient waits for what is known to pass, counted
	// from when it began or from the last progress of the pod.
	GracePeriod time.Duration
	// StuckDelay is how long a cause that only a person can change must have lasted
	// for a caller that waits to be told so.
	StuckDelay time.Duration
	// StuckAfter is how long such a cause is waited for; 0 is for ever.
	StuckAfter time.Duration
	// MountDelay is how long a pod that has a node may wait for its volumes until that is a warning, and LongDelay how
	// long it may take to be ready; 0 is for ever. Nothing fails by either.
	MountDelay, LongDelay time.Duration
	// StuckAfterOrigin is what has set StuckAfter, for messages: a flag, a variable, a
	// key of the file.
	StuckAfterOrigin string
	// WaitingSince is when the caller began to wait, from which both count at the
	// earliest: what has just been corrected is not too late. Zero if nobody waits.
	WaitingSince time.Time
	// IgnoreReasons are causes that shall not fail anything, each by its code
	// (ImageNotFound) or by Kubernetes' reason (ErrImagePull), in any case.
	IgnoreReasons []string
}

// DefaultPolicy is Fast with the flow's thresholds. The grace period of the other
// one is longer than the 6 minutes after which a volume is taken from a node that
// does not give it back, and than a new node usually takes.
func DefaultPolicy() Policy {
	return Policy{
		Name:               Fast,
		PullDelay:          8 * time.Second,
		CauseDelay:         3 * time.Second,
		CrashLoopThreshold: 2,
		RecoveryTime:       60 * time.Second,
		GracePeriod:        10 * time.Minute,
		StuckDelay:         time.Minute,
	}
}

// K8shellPolicy is DefaultPolicy with the thresholds of k8shell's provisioner, for those who work beside it.
func K8shellPolicy() Policy {
	p := DefaultPolicy()
	p.CrashLoopThreshold = 1 // the second restart is critical
	p.MountDelay, p.LongDelay = 30*time.Second, time.Minute
	return p
}

// Ignores says whether one of these names of a cause is to be ignored.
func (p Policy) Ignores(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return slices.ContainsFunc(p.IgnoreReasons, func(ignored string) bool {
			return strings.EqualFold(name,
				ignored)
		})
	})
}

// Waiting is the policy of a caller that begins to wait.
func (p Policy) Waiting(since time.Time) Policy {
	p.WaitingSince = since
	return p
}

// By is the policy by a clock that is ahead of the caller's, where a reading is made by that.
func (p Policy) By(ahead time.Duration) Policy {
	if !p.WaitingSince.IsZero() {
		p.WaitingSince = p.WaitingSince.Add(ahead)
	}
	return p
}

// Patient is true for the policy Patient.
func (p Policy) Patient() bool { return p.Name == Patient }
