package wording

import (
	v1 "github.com/berthdev/berth/api/v1"
)

// FailureGroup is one or more workspaces that failed alike: a cluster that is
// out of reach is one piece of news, not fifty.
type FailureGroup struct {
	Titles []Title
	Cause  string
	Err    v1.Error
	Next   []Command
}

// Failures are those of a batch, in its order. An interruption is none.
func (es Endings) Failures() []FailureGroup {
	var groups []FailureGroup
	index := map[[4]string]int{}
	for _, item := range es.items {
		if item.err == nil || IsInterrupt(*item.err) {
			continue
		}
		title := item.title
		f := FailureGroup{Titles: []Title{title}, Cause: Gist(*item.err), Err: *item.err}
		key := [4]string{f.Err.Code + string(f.Err.Left), f.Cause, f.Err.Hint}
		if f.Err.Logs != nil || len(f.Err.Problems) > 0 {
			key[3] = title.ID // it has something of its own to say
		}
		if i, known := index[key]; known {
			groups[i].Titles = append(groups[i].Titles, title)
			continue
		}
		f.Next = NextOf(title, f.Err)
		index[key] = len(groups)
		groups = append(groups, f)
	}
	return groups
}

// NextOf is how to look at one that failed, if there is anything to look at.
func NextOf(t Title, e v1.Error) []Command {
	if !IsOutcome(e) || e.Workspace == nil || e.Left == v1.LeftDeleted || e.Workspace.CreatedAt.IsZero() && !isFailed(e) {
		return nil
	}
	return []Command{{Line: t.Command("diagnose")}}
}
