package terminal

import v1 "github.com/berthdev/berth/api/v1"

// endings are what became of several workspaces, whatever was done to them.
type endings struct {
	items   []end
	seconds float64
	failed  int
}

// end is one of them.
type end struct {
	title Title
	err   *v1.Error
}

// endings reads the one result of a batch. Its items are in the order of the
// batch's members.
func (b Batch) endings(r v1.Result) (e endings, ok bool) {
	var errs []*v1.Error
	switch {
	case r.Summary != nil:
		e.seconds, e.failed = r.Summary.Seconds, r.Summary.Failed
		for _, item := range r.Summary.Items {
			errs = append(errs, item.Error)
		}
	case r.Deletions != nil:
		e.seconds, e.failed = r.Deletions.Seconds, r.Deletions.Failed
		for _, item := range r.Deletions.Items {
			errs = append(errs, item.Error)
		}
	default:
		return e, false
	}
	for i, err := range errs[:min(len(errs), len(b.Members))] {
		title := b.Members[i]
		title.Flags = b.Flags
		e.items = append(e.items, end{title, err})
	}
	return e, true
}

// deletes tells a batch that removes workspaces from one that makes them.
func (b Batch) deletes() bool { return len(b.Members) > 0 && b.Members[0].Verb == "delete" }

// done is how one calls those that have ended well.
func (b Batch) done() string {
	if b.deletes() {
		return "deleted"
	}
	return "running"
}

// deletionText is what a deletion came to, in a few words.
func deletionText(d v1.Deletion) string {
	switch {
	case d.NotFound:
		return "it was not there"
	case !d.Gone:
		return plural(d.Objects, "object") + ", the pod may still be ending"
	default:
		return plural(d.Objects, "object")
	}
}
