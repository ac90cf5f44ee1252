package bundle

import (
	"strconv"

	"charm.land/lipgloss/v2"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal/result"
	"github.com/berthdev/berth/internal/terminal/style"
)

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
