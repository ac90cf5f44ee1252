package result

import (
	"strings"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/english"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// Removal is what became of an instance that was to be removed.
type Removal struct{ v1.BundleRemoval }

// Names are that of the instance.
func (r Removal) Names() []string { return []string{r.Name} }

// Text says that it is gone.
func (r Removal) Text(p style.Page) ([]string, error) {
	lines := []string{p.Text(r.Name) + " uninstalled"}
	if r.NotFound {
		lines[0] = p.Text(r.Name) + " is not installed"
	}
	for _, line := range r.kept() {
		lines = append(lines, p.Text(line))
	}
	return lines, nil
}

// Exit is that of success.
func (r Removal) Exit() int { return 0 }

// Took is what the document says.
func (r Removal) Took(between time.Duration) time.Duration {
	if r.Seconds <= 0 {
		return between
	}
	return style.Seconds(r.Seconds)
}

func (r Removal) fact() string {
	if r.NotFound {
		return "not installed"
	}
	return english.Count(r.Objects, "object")
}

// kept says what was left, and why.
func (r Removal) kept() (lines []string) {
	for _, k := range r.Kept {
		name := k.Object
		if k.Namespace != "" {
			name += " in namespace " + k.Namespace
		}
		lines = append(lines, "kept "+name+": "+k.Reason)
	}
	return lines
}

// Row says what was removed.
func (r Removal) Row(p style.Page) Row {
	return Row{Sign: p.Done, Word: "Uninstalled", Colour: p.Green, Why: r.fact()}
}

// Summary says what was removed, what was left, and how long that took.
func (r Removal) Summary(p style.Page, _ wording.Title, between time.Duration) []string {
	head := style.Paint(p.Green, p.Done) + " " + style.Paint(p.Bold, "Uninstalled") + " " + p.Text(r.Name) + " in " +
		style.Brief(r.Took(between))
	lines := p.Headline(head, style.Paint(p.Grey, r.fact()))
	for _, line := range r.kept() {
		lines = append(lines, p.Indent(p.Text(line))...)
	}
	return lines
}

// Entries say the same.
func (r Removal) Entries(_ style.Page, _ wording.Title, between time.Duration, _ bool) []Entry {
	entries := []Entry{{Label: "uninstalled", Text: r.fact() + " in " + style.Brief(r.Took(between))}}
	for _, line := range r.kept() {
		entries = append(entries, Entry{Label: "kept", Text: strings.TrimPrefix(line, "kept ")})
	}
	return entries
}
