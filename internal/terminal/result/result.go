// Package result is how each kind of document looks: its text for people, its
// names, and, of those that end a command with progress, its summary.
// Each kind is one file. What is printed as JSON is the kind itself.
package result

import (
	"time"

	"charm.land/lipgloss/v2"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// Kind is a document that a command prints. A kind can have more methods:
//
//	Names() []string  what it is called, for --output name
//	Items() []Kind    its parts, for --output jsonl: a line for each
//	Empty() string    the remark that is printed if there is nothing in it
type Kind interface {
	// Text is what people read.
	Text(p style.Page) ([]string, error)
}

// Ending is a Kind that a command with progress ends with.
type Ending interface {
	Kind
	// Exit is the exit status of the command.
	Exit() int
	// Took is how long the command worked: by its own account, else the time
	// between its first event and its last.
	Took(between time.Duration) time.Duration
	// Row is its line in a table of several.
	Row(p style.Page) Row
	// Summary is what stays below the live view.
	Summary(p style.Page, t wording.Title, between time.Duration) []string
	// Entries are the dated lines about it: alone, or as one of several, whose
	// hints follow at the end of all.
	Entries(p style.Page, t wording.Title, between time.Duration, alone bool) []Entry
}

// Row is a line in a table: how it ended, in a word, and why.
type Row struct {
	Sign, Word string
	Colour     lipgloss.Style // of both
	Why        string
}

// Entry is a dated line: what it is about, and what there is to say.
type Entry struct {
	// ID is the workspace that it is about; empty for that of the event.
	ID          string
	Label, Text string
	// Undated is set for lines of an ordinary error, which are printed as such.
	Undated bool
}

// Of is the kind of a result. The batch is what the command worked on.
func Of(r v1.Result, b wording.Batch) Ending {
	switch {
	case r.Error != nil:
		return Error{*r.Error}
	case r.Deletion != nil:
		return Deletion{*r.Deletion}
	case r.Stop != nil:
		return Stop{*r.Stop}
	case r.Workspace != nil:
		return Workspace{*r.Workspace}
	case r.Installation != nil:
		return Installation{*r.Installation}
	case r.Removal != nil:
		return Removal{*r.Removal}
	case r.Summary != nil:
		return newProvisionSummary(*r.Summary, b)
	case r.Deletions != nil:
		return newDeletionSummary(*r.Deletions, b)
	case r.States != nil:
		return newStateSummary(*r.States, b)
	}
	return Error{v1.Error{Code: "INTERNAL", ExitStatus: 1, Message: "the command ended without a result"}}
}

// nextEntries are the commands to type next.
func nextEntries(commands []wording.Command) []Entry {
	entries := make([]Entry, len(commands))
	for i, c := range commands {
		entries[i] = Entry{Label: "next", Text: c.Line}
	}
	return entries
}
