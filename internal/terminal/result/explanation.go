package result

import (
	"slices"
	"strings"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// Explanation says what a cause is.
type Explanation struct{ v1.Explanation }

// Names are its code.
func (e Explanation) Names() []string { return []string{e.Code} }

// Text is what it means, how it is recognized, what to do, and a case of it.
func (e Explanation) Text(p style.Page) ([]string, error) {
	code := p.Text(e.Code) + "  "
	lines := style.Labelled(style.Paint(p.Bold, code), p.Wrap(p.Text(e.Title), p.Width-1-style.Width(code)))
	lines = append(lines, style.Paragraph(p.Indent(p.Paragraphs(e.Meaning)...))...)
	if len(e.Reasons) > 0 {
		lines = append(lines, style.Paragraph(p.Indent("Kubernetes' words for it: "+
			p.Text(strings.Join(e.Reasons, ", "))))...)
	}
	if e.Passes != "" {
		lines = append(lines, style.Paragraph(p.Indent("Passes by itself: "+p.Text(e.Passes)))...)
	}
	lines = append(lines, points("How to recognize it:", e.Signs, p)...)
	lines = append(lines, points("What to do:", e.Remedies, p)...)
	lines = append(lines, points("What becomes of the workspace:", e.Treatments(), p)...)
	if e.Example == nil {
		return lines, nil
	}
	example, err := Diagnosis{Diagnosis: *e.Example}.Text(p.Narrower())
	return append(lines, style.Paragraph(style.Indented(append([]string{"For example:", ""}, example...)))...), err
}

// point begins an item.
const point = "- "

// points are the items of a list below a heading, each with its other lines below the first.
func points(heading string, items []string, p style.Page) (lines []string) {
	if len(items) == 0 {
		return nil
	}
	lines = []string{"", heading}
	for _, item := range items {
		lines = append(lines, style.Labelled(point, p.Wrap(p.Text(item), p.Narrower().Width-1-len(point)))...)
	}
	return append(lines[:1], style.Indented(lines[1:])...)
}

// Treatments are what each policy makes of it, and what is done about one that stays.
func (e Explanation) Treatments() (texts []string) {
	differ := slices.ContainsFunc(e.Policies, func(p v1.PolicyTreatment) bool {
		return !slices.Equal(p.Treatments, e.Policies[0].Treatments)
	})
	for i, policy := range e.Policies {
		switch text := wording.TreatmentsText(policy.Treatments); {
		case differ:
			texts = append(texts, "policy "+policy.Policy+": "+text)
		case i == 0:
			texts = append(texts, "every policy: "+text)
		}
	}
	if e.persists() {
		texts = append(texts, wording.Stays)
	}
	return texts
}

// persists is true for what is waited for, and only a person can change.
func (e Explanation) persists() bool {
	return e.NeedsPerson && slices.ContainsFunc(e.Policies, func(p v1.PolicyTreatment) bool {
		return slices.Contains(p.Treatments, v1.TreatmentWaits)
	})
}

// Explanations is a list of causes.
type Explanations struct{ v1.ExplanationList }

// Names are their codes.
func (l Explanations) Names() []string {
	names := make([]string, len(l.Items))
	for i, e := range l.Items {
		names[i] = e.Code
	}
	return names
}

// Text is a table.
func (l Explanations) Text(p style.Page) ([]string, error) {
	cols := []style.Column{{Title: "CAUSE"}, {Title: "FAMILY", DropOrder: 1}, {Title: "WHAT IT IS", Least: 16}}
	if p.Wide {
		cols = append(cols, style.Column{Title: "KUBERNETES", Least: 16})
	}
	lines := style.Rows(cols, l.Items, p, func(e v1.Explanation) []string {
		return []string{e.Code, e.Family, style.OrDash(e.Title), style.OrDash(strings.Join(e.Reasons, ","))}
	})
	return lines, nil
}
