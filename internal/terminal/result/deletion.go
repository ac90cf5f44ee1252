package result

import (
	"slices"
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
	if d.NotFound {
		return []string{p.Text(d.ID) + " not found"}, nil
	}
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
	if d.NotFound {
		return []string{"there is nothing to delete"}
	}
	facts := append([]string{english.Count(d.Objects, "object")}, d.storage()...)
	if !d.Gone {
		facts = append(facts, "the pod may still be terminating")
	}
	return facts
}

// storage says what became of the storages.
func (d Deletion) storage() (facts []string) {
	for _, kept := range []bool{false, true} {
		if text := english.Storage(d.Storage, kept); text != "" {
			facts = append(facts, text)
		}
	}
	return facts
}

// next are the commands to type next: what to do with storage that is kept.
func (d Deletion) next(t wording.Title) []wording.Command {
	if !slices.ContainsFunc(d.Storage, func(s v1.DeletedStorage) bool { return s.Kept }) {
		return nil
	}
	commands := []wording.Command{{Line: t.Command("delete"), Why: "delete the storage, too"}}
	if t.UserString != "" && t.UserString != t.ID && !strings.HasPrefix(t.UserString, "id/") {
		commands = append([]wording.Command{{Line: t.Command("provision"), Why: "use the storage again"}}, commands...)
	}
	return commands
}

// Row says what was deleted.
func (d Deletion) Row(p style.Page) Row {
	if d.NotFound {
		return Row{Sign: p.Done, Word: "Not found", Colour: p.Grey, Why: d.facts()[0]}
	}
	return Row{Sign: p.Done, Word: "Deleted", Colour: p.Green, Why: strings.Join(d.facts(), ", ")}
}

// Summary says what was deleted, and how long that took.
func (d Deletion) Summary(p style.Page, t wording.Title, between time.Duration) []string {
	if d.NotFound {
		return p.Headline(style.Paint(p.Grey, p.Done)+" "+style.Paint(p.Bold, "Not found")+" "+p.Text(d.ID),
			style.Paint(p.Grey, d.facts()[0]))
	}
	head := style.Paint(p.Green, p.Done) + " " + style.Paint(p.Bold, "Deleted") + " " + p.Text(d.ID) + " in " +
		style.Brief(d.Took(between))
	lines := p.Headline(head, style.Paint(p.Grey, strings.Join(d.facts(), p.Dot)))
	return append(lines, wording.CommandLines(d.next(t), p)...)
}

// Entries say the same.
func (d Deletion) Entries(_ style.Page, t wording.Title, between time.Duration, alone bool) []Entry {
	facts := d.facts()
	if d.NotFound {
		return []Entry{{Label: "not found", Text: facts[0]}}
	}
	facts[0] += " in " + style.Brief(d.Took(between))
	entries := []Entry{{Label: "deleted", Text: strings.Join(facts, ", ")}}
	if alone {
		entries = append(entries, nextEntries(d.next(t))...)
	}
	return entries
}
