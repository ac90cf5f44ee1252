package result

import (
	"strings"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// Stop is what stopping one workspace did.
type Stop struct{ v1.Stop }

// Names are the ID of what is stopped.
func (s Stop) Names() []string { return []string{s.ID} }

// Text says that it is stopped.
func (s Stop) Text(p style.Page) ([]string, error) {
	return []string{p.Text(s.ID) + " " + s.word()}, nil
}

// Exit is that of success.
func (s Stop) Exit() int { return 0 }

// Took is what the document says.
func (s Stop) Took(between time.Duration) time.Duration {
	if s.Seconds <= 0 {
		return between
	}
	return style.Seconds(s.Seconds)
}

// word says how far it is.
func (s Stop) word() string {
	if s.Stopped {
		return "stopped"
	}
	return "stopping"
}

// onlyStorages says what outlives the pods, whether there are any storages or none.
const onlyStorages = "only files in its storages are kept"

// facts are what there is to know besides.
func (s Stop) facts() []string {
	switch {
	case s.Already:
		return []string{"it was stopped already"}
	case !s.Stopped:
		return []string{"its pods may still be ending", onlyStorages}
	}
	return []string{onlyStorages}
}

// next is the command that starts it again.
func (Stop) next(t wording.Title) []wording.Command {
	return []wording.Command{{Line: t.Command("start"), Why: "start it again"}}
}

// Row says how far it is.
func (s Stop) Row(p style.Page) Row {
	return Row{Sign: p.Done, Word: title(s.word()), Colour: p.Green, Why: strings.Join(s.facts(), ", ")}
}

// Summary says that it is stopped, and how long that took.
func (s Stop) Summary(p style.Page, t wording.Title, between time.Duration) []string {
	head := style.Paint(p.Green, p.Done) + " " + style.Paint(p.Bold, title(s.word())) + " " + p.Text(s.ID) + " in " +
		style.Brief(s.Took(between))
	lines := p.Headline(head, style.Paint(p.Grey, strings.Join(s.facts(), p.Dot)))
	return append(lines, wording.CommandLines(s.next(t), p)...)
}

// Entries say the same.
func (s Stop) Entries(_ style.Page, t wording.Title, between time.Duration, alone bool) []Entry {
	text := "in " + style.Brief(s.Took(between)) + ", " + strings.Join(s.facts(), ", ")
	entries := []Entry{{Label: s.word(), Text: text}}
	if alone {
		entries = append(entries, nextEntries(s.next(t))...)
	}
	return entries
}

func title(word string) string { return strings.ToUpper(word[:1]) + word[1:] }
