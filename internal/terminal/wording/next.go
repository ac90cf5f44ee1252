package wording

import (
	v1 "github.com/berthdev/berth/api/v1"
)

// Command is something to type next, and what it is good for.
type Command struct{ Line, Why string }

// Next says what one would type after a result.
func Next(t Title, r v1.Result) []Command {
	if t.Verb != "provision" {
		return nil
	}
	switch {
	case r.Workspace != nil && r.Workspace.Stage == v1.StageRunning:
		return []Command{{Line: t.Command("exec")}}
	case r.Workspace != nil:
		return []Command{{Line: t.Command("status")}}
	case r.Error == nil || !IsOutcome(*r.Error) || r.Error.Workspace == nil:
		return nil
	}
	return afterFailure(t, *r.Error)
}

// afterFailure proposes to look at and to remove only what there is.
func afterFailure(t Title, e v1.Error) []Command {
	made, again := !e.Workspace.CreatedAt.IsZero() && e.Left != v1.LeftDeleted, "wait again"
	switch {
	case !made:
		again = "try again"
	case IsInterrupt(e):
		again = "follow again"
	}
	var cs []Command
	if !IsInterrupt(e) && e.Left != v1.LeftDeleted && (made || isFailed(e)) {
		cs = append(cs, Command{t.Command("diagnose"), "everything that is known about it"})
	}
	if !isFailed(e) {
		cs = append(cs, Command{t.Command("provision"), again})
	}
	switch {
	case e.Left == v1.LeftKept:
		cs = append(cs, Command{t.Command("delete"), "what was created is kept; this removes it"})
	case made:
		cs = append(cs, Command{t.Command("delete"), "remove what was created"})
	}
	return cs
}
