package terminal

import (
	"strings"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
)

// command is something to type next, and what it is good for.
type command struct{ line, why string }

// next says what one would type after a result.
func next(t Title, r v1.Result) []command {
	if t.Verb != "provision" {
		return nil
	}
	switch {
	case r.Workspace != nil && r.Workspace.Stage == v1.StageRunning:
		return []command{{line: t.command("exec")}}
	case r.Workspace != nil:
		return []command{{line: t.command("status")}}
	case r.Error == nil || !isOutcome(*r.Error) || r.Error.Workspace == nil:
		return nil
	}
	return afterFailure(t, *r.Error)
}

// afterFailure proposes to look at and to remove only what there is.
func afterFailure(t Title, e v1.Error) []command {
	made, again := !e.Workspace.CreatedAt.IsZero() && e.Left != v1.LeftDeleted, "wait again"
	switch {
	case !made:
		again = "try again"
	case isInterrupt(e):
		again = "follow again"
	}
	var cs []command
	if !isInterrupt(e) && e.Left != v1.LeftDeleted && (made || isFailed(e)) {
		cs = append(cs, command{t.command("diagnose"), "everything that is known about it"})
	}
	if !isFailed(e) {
		cs = append(cs, command{t.command("provision"), again})
	}
	switch {
	case e.Left == v1.LeftKept:
		cs = append(cs, command{t.command("delete"), "what was created is kept; this removes it"})
	case made:
		cs = append(cs, command{t.command("delete"), "remove what was created"})
	}
	return cs
}

// isOutcome tells the errors that are how a provisioning ended from those that
// kept a command from working; the former are told as the end of the story.
func isOutcome(e v1.Error) bool {
	switch fault.Code(e.Code) {
	case fault.Failed, fault.DeadlineExceeded:
		return true
	}
	return isInterrupt(e)
}

func isFailed(e v1.Error) bool { return fault.Code(e.Code) == fault.Failed }

func isInterrupt(e v1.Error) bool {
	c := fault.Code(e.Code)
	return c == fault.Interrupted || c == fault.Terminated
}

// Flag is a flag and its value as one would type them.
func Flag(name, value string) string { return name + " " + shellWord(value) }

// Word is an argument as one would type it.
func Word(arg string) string { return shellWord(arg) }

// shellWord quotes a word if a shell would take it apart.
func shellWord(s string) string {
	safe := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("~@%+=:,./_-", r)
	}
	if s != "" && s[0] != '~' && strings.IndexFunc(s, func(r rune) bool { return !safe(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
