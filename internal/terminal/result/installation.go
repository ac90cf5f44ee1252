package result

import (
	"strconv"
	"strings"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// Installation is what became of a bundle that was to be installed.
type Installation struct{ v1.BundleInstallation }

// Names are that of the instance.
func (i Installation) Names() []string { return []string{i.Name} }

// Text says what became of it.
func (i Installation) Text(p style.Page) ([]string, error) {
	return append([]string{p.Text(i.Name) + " " + string(i.Action)}, i.notes(p)...), nil
}

// Exit is that of success.
func (i Installation) Exit() int { return 0 }

// Took is what the document says.
func (i Installation) Took(between time.Duration) time.Duration {
	if i.Timing == nil || i.Timing.Seconds <= 0 {
		return between
	}
	return style.Seconds(i.Timing.Seconds)
}

// word is what became of it, as the first word of a line.
func (i Installation) word() string {
	return strings.ToUpper(string(i.Action[:1])) + string(i.Action[1:])
}

// facts are what was installed, in a few words.
func (i Installation) facts() (facts []string) {
	facts = append(facts, i.Bundle)
	for _, c := range []struct {
		n    int
		done string
	}{
		{i.Objects.Created, "created"},
		{i.Objects.Updated, "updated"},
		{i.Objects.Deleted, "deleted"},
		{i.Objects.Unchanged, "unchanged"},
	} {
		if c.n > 0 {
			facts = append(facts, strconv.Itoa(c.n)+" "+c.done)
		}
	}
	switch {
	case i.Action == v1.BundleRequested:
		facts = append(facts, "berth serve bundles does the rest")
	case !i.Healthy:
		facts = append(facts, "not waited until it is healthy")
	}
	return facts
}

// notes are those of a chart.
func (i Installation) notes(p style.Page) []string {
	if i.Notes == "" {
		return nil
	}
	return style.Paragraph(p.Paragraphs(i.Notes))
}

// Row says what became of it.
func (i Installation) Row(p style.Page) Row {
	return Row{Sign: p.Done, Word: i.word(), Colour: p.Green, Why: strings.Join(i.facts(), ", ")}
}

// Summary says what became of it, how long that took, and what to type next.
func (i Installation) Summary(p style.Page, t wording.Title, between time.Duration) []string {
	head := style.Paint(p.Green, p.Done) + " " + style.Paint(p.Bold, i.word()) + " " + p.Text(i.Name) + " in " +
		style.Brief(i.Took(between))
	lines := p.Headline(head, style.Paint(p.Grey, p.Text(strings.Join(i.facts(), p.Dot))))
	lines = append(lines, i.notes(p)...)
	return append(lines, wording.CommandLines(i.next(t), p)...)
}

// next are the commands to type next.
func (i Installation) next(t wording.Title) []wording.Command {
	return []wording.Command{
		{Line: t.Command("bundle status"), Why: "show what is installed, and its health"},
		{Line: t.Command("bundle uninstall"), Why: "remove it"},
	}
}

// Entries say the same.
func (i Installation) Entries(p style.Page, t wording.Title, between time.Duration, _ bool) []Entry {
	facts := i.facts()
	facts[0] += " in " + style.Brief(i.Took(between))
	entries := []Entry{{Label: string(i.Action), Text: strings.Join(facts, ", ")}}
	for _, line := range p.Paragraphs(i.Notes) {
		entries = append(entries, Entry{Label: "note", Text: line})
	}
	return append(entries, nextEntries(i.next(t))...)
}
