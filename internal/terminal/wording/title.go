// Package wording is what is said of workspaces, of how they end and of what to
// type next: the same words, whether they are drawn, printed or written as lines.
package wording

import (
	"strings"
)

// Title is what a command works on, for the first line and for the commands
// that are proposed at the end.
type Title struct {
	UserString string
	ID         string
	Namespace  string
	// Verb is the command's name: provision, delete, …
	Verb string
	// Flags are those that led here and that the proposed commands need as
	// well, as one would type them: -n t1.
	Flags []string
}

// Target is how one would address the workspace in a command.
func (t Title) Target() string {
	if t.UserString != "" {
		return t.UserString
	}
	return t.ID
}

// Command is a berth command for the workspace, as one would type it.
func (t Title) Command(verb string) string {
	words := append([]string{"berth", verb, Word(t.Target())}, t.Flags...)
	return strings.Join(words, " ")
}

// Located gives the berth commands that a hint quotes the flags that led here.
func (t Title) Located(hint string) string {
	if len(t.Flags) == 0 {
		return hint
	}
	parts := strings.Split(hint, "`") // those with odd numbers are quoted
	for i := 1; i < len(parts)-1; i += 2 {
		if strings.HasPrefix(parts[i], "berth ") && !strings.HasPrefix(parts[i], "berth help ") {
			parts[i] += " " + strings.Join(t.Flags, " ")
		}
	}
	return strings.Join(parts, "`")
}
