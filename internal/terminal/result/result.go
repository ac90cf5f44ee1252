// Package result is how each kind of document looks: its text for people, its
// names, and, of those that end a command with progress, its Outcome.
// What is printed as JSON is the kind itself.
package result

import (
	"strconv"

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

// Version is the version of the binary.
type Version struct{ v1.Version }

// Text is one line.
func (v Version) Text(p style.Page) ([]string, error) {
	line := "berth " + v.Version.Version
	if v.Commit != "" {
		line += style.Paint(p.Grey, " ("+v.Commit+")")
	}
	return []string{line + style.Paint(p.Grey, " "+v.Platform+" "+v.GoVersion)}, nil
}

// PortForward is something that happened to forwarded ports.
type PortForward struct{ v1.PortForward }

// Text is one line, for an address the one that kubectl prints.
func (f PortForward) Text(p style.Page) ([]string, error) { return []string{p.Text(f.line())}, nil }

func (f PortForward) line() string {
	port := strconv.Itoa(int(f.Port))
	switch f.State {
	case v1.PortListening:
		return "Forwarding from " + f.Address + " -> " + port
	case v1.PortConnected:
		return "connected with pod " + f.Pod
	case v1.PortLost:
		return "lost pod " + f.Pod + ": " + f.Reason
	case v1.PortWaiting:
		return "waiting for a pod: " + f.Reason
	}
	return "connection to port " + port + " failed: " + f.Reason
}
