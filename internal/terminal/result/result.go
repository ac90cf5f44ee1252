// Package result is how each kind of document looks: its text for people, its
// names, and, of those that end a command with progress, its summary.
// Each kind is one file. What is printed as JSON is the kind itself.
package result

import (
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

// table lays out a row of cells for each item; nothing without items.
func table[T any](cols []style.Column, items []T, p style.Page, cells func(T) []string) []string {
	if len(items) == 0 {
		return nil
	}
	fill(cols, items, p, cells)
	return style.Table(cols, p.Table().Room, p.Styles)
}

// fill adds the cells of the items to the columns.
func fill[T any](cols []style.Column, items []T, p style.Page, cells func(T) []string) {
	for _, item := range items {
		for i, cell := range cells(item)[:len(cols)] {
			cols[i].Cells = append(cols[i].Cells, p.Text(cell))
		}
	}
}
