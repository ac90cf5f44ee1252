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
	target := shellWord(t.target())
	switch {
	case r.Workspace != nil && r.Workspace.Stage == v1.StageRunning:
		return []command{{line: "berth exec " + target}}
	case r.Workspace != nil:
		return []command{{line: "berth status " + target}}
	case r.Error == nil || !isOutcome(*r.Error):
		return nil
	case isInterrupt(*r.Error):
		cs := []command{{"berth provision " + target, "follow again"}}
		return append(cs, remove(*r.Error, target)...)
	case r.Error.Workspace == nil:
		return nil
	}
	cs := []command{{"berth diagnose " + target, "everything that is known about it"}}
	if fault.Code(r.Error.Code) == fault.DeadlineExceeded {
		cs = append(cs, command{"berth provision " + target, "wait again"})
	}
	return append(cs, remove(*r.Error, target)...)
}

func remove(e v1.Error, target string) []command {
	if e.Workspace == nil {
		return nil
	}
	return []command{{"berth delete " + target, "remove what was created"}}
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

func isInterrupt(e v1.Error) bool {
	c := fault.Code(e.Code)
	return c == fault.Interrupted || c == fault.Terminated
}

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
