package watch

import (
	"slices"
	"time"
)

// Policy is what counts as a failure and when. Its defaults are the
// provisioning flow's.
type Policy struct {
	// PullDelay is how long an image is pulled before it is mentioned: images
	// that are on the node already are "pulled" in a moment.
	PullDelay time.Duration
	// CrashLoopThreshold is the number of restarts of one container that are
	// still a hiccup; one more is a crash loop.
	CrashLoopThreshold int
	// ReadyForgives is how long a container must have been ready for the crash
	// of an instance before it to stop counting.
	ReadyForgives time.Duration
	// IgnoreReasons are causes that shall not fail anything, each by its code
	// (ImageNotFound) or by Kubernetes' reason (ErrImagePull).
	IgnoreReasons []string
}

// DefaultPolicy fails on everything that the flow's severity table calls critical.
func DefaultPolicy() Policy {
	return Policy{
		PullDelay:          8 * time.Second,
		CrashLoopThreshold: 2,
		ReadyForgives:      60 * time.Second,
	}
}

func (p Policy) ignores(names ...string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return slices.Contains(p.IgnoreReasons, n) })
}
