package bundle

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"charm.land/lipgloss/v2"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal/result"
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
		{"Watches", p.Text(watched(s.Watches))},
		{"Age", style.Age(s.CreatedAt, p.Now)},
	})
	for _, text := range append([]string{s.Message}, s.Warnings...) {
		for _, line := range p.Paragraphs(text) {
			lines = append(lines, p.Indent(style.Paint(p.Yellow, p.Warning)+" "+line)...)
		}
	}
	lines = append(lines, style.Paragraph(table(p, s.Conditions,
		column[v1.BundleCondition]{
			style.Column{Title: "CONDITION"},
			func(c v1.BundleCondition) string { return c.Type },
		},
		column[v1.BundleCondition]{
			style.Column{Title: "STATUS"},
			func(c v1.BundleCondition) string { return c.Status },
		},
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
	lines = append(lines, s.certificates(p)...)
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
		column[v1.BundleObject]{style.Column{Title: "WHY", Least: 12}, s.why},
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

// why is why an object is not as it should be.
func (s State) why(o v1.BundleObject) string {
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

// List is a list of instances.
type List struct{ v1.BundleStateList }

// Names are those of the instances.
func (l List) Names() (names []string) {
	for _, s := range l.BundleStateList.Items {
		names = append(names, s.Name)
	}
	return names
}

// Items are the instances.
func (l List) Items() (items []result.Kind) {
	for _, s := range l.BundleStateList.Items {
		items = append(items, State{s})
	}
	return items
}

// Empty is the remark about an empty list.
func (l List) Empty() string {
	if len(l.BundleStateList.Items) > 0 {
		return ""
	}
	return "no bundles are installed"
}

// Text is a table.
func (l List) Text(p style.Page) ([]string, error) {
	states := l.BundleStateList.Items
	columns := []column[v1.BundleState]{
		{style.Column{Title: "NAME", Name: true, Least: 12}, func(s v1.BundleState) string { return s.Name }},
		{
			style.Column{Title: "STATE", Style: func(row int) lipgloss.Style { return colour(states[row].State, p) }},
			func(s v1.BundleState) string { return string(s.State) },
		},
		{
			style.Column{Title: "BUNDLE", Name: true, Least: 10, DropOrder: 3},
			func(s v1.BundleState) string { return style.OrDash(s.Installed) },
		},
		{
			style.Column{Title: "SOURCE", Name: true, Least: 16, DropOrder: 1},
			func(s v1.BundleState) string { return s.Source },
		},
		{style.Column{Title: "AGE"}, func(s v1.BundleState) string { return style.Age(s.CreatedAt, p.Now) }},
	}
	if p.Wide {
		columns = append(columns,
			column[v1.BundleState]{
				style.Column{Title: "NAMESPACE", Name: true, Least: 9, DropOrder: 4},
				func(s v1.BundleState) string { return style.OrDash(s.Namespace) },
			},
			column[v1.BundleState]{
				style.Column{Title: "REVISION", DropOrder: 5},
				func(s v1.BundleState) string { return strconv.Itoa(s.Revision) },
			},
			column[v1.BundleState]{
				style.Column{Title: "CLASS", Name: true, Least: 9, DropOrder: 6},
				func(s v1.BundleState) string { return s.Class },
			})
	}
	columns = append(columns, column[v1.BundleState]{style.Column{Title: "WHY", Least: 12}, whyInstance})
	return table(p, states, columns...), nil
}

// whyInstance is why an instance is not as it should be.
func whyInstance(s v1.BundleState) string {
	if s.Message == "" && len(s.Warnings) > 0 {
		return s.Warnings[0]
	}
	return s.Message
}

// Reconciliation is what one pass over all objects did.
type Reconciliation struct{ v1.BundleReconciliation }

// Names are kind/name of each object.
func (r Reconciliation) Names() (names []string) {
	for _, o := range r.Items {
		names = append(names, o.Object)
	}
	return names
}

// Empty is the remark about an empty pass.
func (r Reconciliation) Empty() string {
	if len(r.Items) > 0 {
		return ""
	}
	return "there are no bundles and no instances"
}

// Text is a table.
func (r Reconciliation) Text(p style.Page) ([]string, error) {
	return table(p, r.Items,
		column[v1.ReconciledObject]{
			style.Column{Title: "OBJECT", Name: true, Least: 16},
			func(o v1.ReconciledObject) string { return o.Object },
		},
		column[v1.ReconciledObject]{style.Column{Title: "RESULT"}, outcome},
		column[v1.ReconciledObject]{style.Column{Title: "WHY", Least: 12}, reason},
	), nil
}

func outcome(o v1.ReconciledObject) string {
	if o.Error != nil {
		return "failed"
	}
	return "done"
}

func reason(o v1.ReconciledObject) string {
	if o.Error == nil {
		return ""
	}
	return o.Error.Message
}
