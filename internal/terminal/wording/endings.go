package wording

import v1 "github.com/berthdev/berth/api/v1"

// Endings are what became of several workspaces, whatever was done to them.
type Endings struct {
	items   []end
	Seconds float64
	Failed  int
}

// end is one of them.
type end struct {
	title Title
	err   *v1.Error
}

// Endings reads the one result of a batch. Its items are in the order of the
// batch's members.
func (b Batch) Endings(r v1.Result) (e Endings, ok bool) {
	var errs []*v1.Error
	switch {
	case r.Summary != nil:
		e.Seconds, e.Failed = r.Summary.Seconds, r.Summary.Failed
		for _, item := range r.Summary.Items {
			errs = append(errs, item.Error)
		}
	case r.Deletions != nil:
		e.Seconds, e.Failed = r.Deletions.Seconds, r.Deletions.Failed
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
