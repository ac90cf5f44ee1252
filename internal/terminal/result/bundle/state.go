package bundle

import (
	"fmt"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal/style"
)

// State is one instance with everything about it.
type State struct{ v1.BundleState }

// Names are its name.
func (s State) Names() []string { return []string{s.Name} }

// Text is the instance, its conditions, its bundles, and the health of its objects. What it
// says at first is not repeated.
func (s State) Text(p style.Page) ([]string, error) {
	revision := ""
	if s.Revision > 0 {
		revision = fmt.Sprintf(" (revision %d)", s.Revision)
	}
	lines := p.Labels([][2]string{
		{"Instance", style.Paint(p.Bold, p.Text(s.Name))},
		{"State", style.Paint(colour(s.State, p), string(s.State))},
		{"Source", p.Text(s.Source)},
		{"Namespace", p.Text(s.Namespace)},
		{"Installed", p.Text(s.Installed) + revision},
		{"Class", p.Text(s.Class)},
		{"Age", style.Age(s.CreatedAt, p.Now)},
	})
	for _, text := range append([]string{s.Message}, s.Warnings...) {
		for _, line := range p.Paragraphs(text) {
			lines = append(lines, p.Indent(style.Paint(p.Yellow, p.Warning)+" "+line)...)
		}
	}
	lines = append(lines, style.Paragraph(table(p, s.Conditions,
		column[v1.BundleCondition]{style.Column{Title: "CONDITION"}, func(c v1.BundleCondition) string { return c.Type }},
		column[v1.BundleCondition]{style.Column{Title: "STATUS"}, func(c v1.BundleCondition) string { return c.Status }},
		column[v1.BundleCondition]{
			style.Column{Title: "REASON", Name: true, Least: 10},
			func(c v1.BundleCondition) string { return c.Reason },
		},
		column[v1.BundleCondition]{
			style.Column{Title: "SINCE", DropOrder: 1},
			func(c v1.BundleCondition) string { return style.Age(c.Since, p.Now) },
		},
		column[v1.BundleCondition]{style.Column{Title: "MESSAGE", Least: 12}, s.message},
	))...)
	lines = append(lines, style.Paragraph(table(p, s.Bundles, s.bundleColumns()...))...)
	return append(lines, style.Paragraph(table(p, s.Objects,
		column[v1.BundleObject]{
			style.Column{Title: "OBJECT", Name: true, Least: 16},
			func(o v1.BundleObject) string { return o.Object },
		},
		column[v1.BundleObject]{
			style.Column{Title: "NAMESPACE", Name: true, Least: 9, DropOrder: 1},
			func(o v1.BundleObject) string { return style.OrDash(o.Namespace) },
		},
		column[v1.BundleObject]{style.Column{Title: "STATE"}, func(o v1.BundleObject) string { return o.State }},
		column[v1.BundleObject]{style.Column{Title: "WHY", Least: 12}, s.because},
	))...), nil
}

// bundleColumns are those of its bundles. Where content is served is shown if a server does that.
func (s State) bundleColumns() []column[v1.BundleOfInstance] {
	columns := []column[v1.BundleOfInstance]{
		{style.Column{Title: "BUNDLE", Name: true, Least: 12}, func(b v1.BundleOfInstance) string { return b.Name }},
		{style.Column{Title: "PHASE"}, func(b v1.BundleOfInstance) string { return style.OrDash(b.Phase) }},
		{style.Column{Title: "SOURCE", Least: 12}, func(b v1.BundleOfInstance) string { return b.Source }},
	}
	if slices.ContainsFunc(s.Bundles, func(b v1.BundleOfInstance) bool { return b.ContentURL != "" }) {
		columns = append(columns, column[v1.BundleOfInstance]{
			style.Column{Title: "SERVED", DropOrder: 1},
			func(b v1.BundleOfInstance) string { return style.OrDash(b.ContentURL) },
		})
	}
	return columns
}

// above is in a table instead of what is said before it.
const above = "see above"

// message is that of a condition.
func (s State) message(c v1.BundleCondition) string {
	if c.Message != "" && c.Message == s.Message {
		return above
	}
	return c.Message
}

// because is why an object is not as it should be.
func (s State) because(o v1.BundleObject) string {
	name := o.Object
	if o.Namespace != "" {
		name += " in namespace " + o.Namespace
	}
	switch {
	case o.State == "Current":
		return ""
	case strings.Contains(s.Message, name+": "+o.Message):
		return above
	}
	return o.Message
}

func colour(state v1.BundleStateName, p style.Page) lipgloss.Style {
	switch state {
	case v1.BundleHealthy:
		return p.Green
	case v1.BundleFailed, v1.BundleUnhealthy:
		return p.Red
	default:
		return p.Grey
	}
}

// column is a column of a table, and its cell in a row.
type column[T any] struct {
	style.Column
	cell func(T) string
}

// table is the rows; nothing without any.
func table[T any](p style.Page, rows []T, columns ...column[T]) []string {
	if len(rows) == 0 {
		return nil
	}
	laid := make([]style.Column, len(columns))
	for i, c := range columns {
		for _, row := range rows {
			c.Cells = append(c.Cells, p.Text(c.cell(row)))
		}
		laid[i] = c.Column
	}
	return style.Table(laid, p.Table().Room, p.Styles)
}
