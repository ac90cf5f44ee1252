package result

import (
	"strings"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/english"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// Deletion is what a deletion of one workspace did.
type Deletion struct{ v1.Deletion }

// Names are the ID of what is gone.
func (d Deletion) Names() []string { return []string{d.ID} }

// Text says that it is deleted.
func (d Deletion) Text(p style.Page) ([]string, error) {
	return []string{p.Text(d.ID) + " deleted"}, nil
}

// Exit is that of success.
func (d Deletion) Exit() int { return 0 }

// Took is what the document says.
func (d Deletion) Took(between time.Duration) time.Duration {
	if d.Seconds <= 0 {
		return between
	}
	return style.Seconds(d.Seconds)
}

// facts are what was deleted, in a few words.
func (d Deletion) facts() []string {
	switch {
	case d.NotFound:
		return []string{"not found"}
	case !d.Gone:
		return []string{english.Plural(d.Objects, "object"), "the pod may still be terminating"}
	}
	return []string{english.Plural(d.Objects, "object")}
}

// Row says what was deleted.
func (d Deletion) Row(p style.Page) Row {
	return Row{Sign: p.Done, Word: "Deleted", Colour: p.Green, Why: strings.Join(d.facts(), ", ")}
}

// Summary says what was deleted, and how long that took.
func (d Deletion) Summary(p style.Page, _ wording.Title, between time.Duration) []string {
	head := style.Paint(p.Green, p.Done) + " " + style.Paint(p.Bold, "Deleted") + " " + p.Text(d.ID) + " in " + style.Brief(d.Took(between))
	return p.Headline(head, style.Paint(p.Grey, strings.Join(d.facts(), p.Dot)))
}

// Entries say the same.
func (d Deletion) Entries(_ style.Page, _ wording.Title, between time.Duration, _ bool) []Entry {
	facts := d.facts()
	if !d.NotFound {
		facts[0] += " in " + style.Brief(d.Took(between))
	}
	return []Entry{{Label: "deleted", Text: strings.Join(facts, ", ")}}
}
