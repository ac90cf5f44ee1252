package follow

import "time"

// clusterTime is this machine's clock, put forward if it is behind the
// cluster's: a delay counts from a time that the cluster gave, and a laptop that
// is a minute late would notice a minute late. Nothing is seen before it
// happens, so an event of the future shows it. (A clock that is ahead cannot be
// told from an old event; it shortens the delays.)
func (f *Follower) clusterTime(n news, now func() time.Time) func() time.Time {
	for _, s := range n.states {
		f.behind = max(f.behind, s.LatestEvent().Sub(now()))
	}
	behind := f.behind
	return func() time.Time { return now().Add(behind) }
}
