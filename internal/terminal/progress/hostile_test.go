package progress

import (
	"testing"

	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/terminaltest"
	"github.com/berthdev/berth/internal/terminal/wording"
)

func TestTextFromElsewhereInLines(t *testing.T) {
	s, b := terminal.Test("", terminaltest.T0)
	r := New(s, printer.Format{}, terminaltest.Single(wording.Title{
		UserString: terminaltest.Hostile,
		ID:         terminaltest.Hostile, Namespace: terminaltest.Hostile, Verb: "provision",
	}))
	for _, e := range terminaltest.HostileStory() {
		r.Handle(e)
	}
	terminaltest.Harmless(t, "one", b.Err.String())
	_, lines := renderBatch(t, terminaltest.HostileBatch().End(), "text")
	terminaltest.Harmless(t, "many", lines)
}
