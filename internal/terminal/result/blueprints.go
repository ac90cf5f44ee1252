package result

import (
	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/english"
	"github.com/berthdev/berth/internal/terminal/style"
)

// Blueprints is a list of blueprints.
type Blueprints struct{ v1.BlueprintList }

// Names are their names.
func (l Blueprints) Names() []string {
	names := make([]string, len(l.Items))
	for i, b := range l.Items {
		names[i] = b.Name
	}
	return names
}

// Text is a table.
func (l Blueprints) Text(p style.Page) ([]string, error) {
	cols := []style.Column{
		{Title: "NAME", Name: true, Least: 12},
		{Title: "TEMPLATE", Name: true, Least: 8, DropOrder: 2},
		{Title: "KIND", DropOrder: 1},
		{Title: "DESCRIPTION", Least: 16},
	}
	if p.Wide {
		cols = append(cols, style.Column{Title: "FROM", Name: true, Least: 12})
	}
	return table(cols, l.Items, p, func(b v1.BlueprintSummary) []string {
		kind := "blueprint"
		if b.IsTemplate {
			kind = "template"
		}
		return []string{b.Name, style.OrDash(b.Template), kind, style.OrDash(b.Description), b.From}
	}), nil
}

// BlueprintCheck says that blueprints are valid.
type BlueprintCheck struct{ v1.BlueprintCheck }

// Text says how many there are.
func (c BlueprintCheck) Text(style.Page) ([]string, error) {
	return []string{english.Plural(c.Blueprints, "blueprint") + " in " + english.Plural(len(c.Files), "file") +
		": no problems found"}, nil
}
