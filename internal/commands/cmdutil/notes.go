package cmdutil

import (
	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// Notes prints the remarks and warnings of a stream, and nothing else.
type Notes struct{ terminal.Streams }

// Handle prints a remark or a warning.
func (n Notes) Handle(e v1.Event) {
	switch {
	case e.Progress != nil:
		printer.PrintNote(n.Streams, e.Progress.Message)
	case e.Warning != nil:
		printer.PrintNote(n.Streams, wording.WarningText(*e.Warning))
	}
}
