package terminal

import (
	v1 "github.com/berthdev/berth/api/v1"
)

// failureGroup is one or more workspaces that failed alike: a cluster that is
// out of reach is one piece of news, not fifty.
type failureGroup struct {
	titles []Title
	cause  string
	err    v1.Error
	next   []command
}

// failures are those of a batch, in its order. An interruption is none.
func (c *crowd) failures(s endings) []failureGroup {
	var groups []failureGroup
	index := map[[4]string]int{}
	for _, item := range s.items {
		if item.err == nil || isInterrupt(*item.err) {
			continue
		}
		title := item.title
		f := failureGroup{titles: []Title{title}, cause: gist(*item.err), err: *item.err}
		key := [4]string{f.err.Code + string(f.err.Left), f.cause, f.err.Hint}
		if f.err.Logs != nil || len(f.err.Problems) > 0 {
			key[3] = title.ID // it has something of its own to say
		}
		if i, known := index[key]; known {
			groups[i].titles = append(groups[i].titles, title)
			continue
		}
		f.next = nextOf(title, f.err)
		index[key] = len(groups)
		groups = append(groups, f)
	}
	return groups
}

// nextOf is how to look at one that failed, if there is anything to look at.
func nextOf(t Title, e v1.Error) []command {
	if !isOutcome(e) || e.Workspace == nil || e.Left == v1.LeftDeleted || e.Workspace.CreatedAt.IsZero() && !isFailed(e) {
		return nil
	}
	return []command{{line: t.command("diagnose")}}
}
