package printer

import (
	"fmt"
	"io"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/style"
)

// PrintBlueprints prints the list of blueprints.
func PrintBlueprints(s terminal.Streams, f Format, list *v1.BlueprintList) error {
	var lines []string
	switch {
	case f.kind == formatName:
		for _, b := range list.Items {
			lines = append(lines, b.Name)
		}
	case !f.IsText():
		return Print(s, f, list)
	default:
		lines = blueprintTable(list.Items, f.kind == formatWide, s.Out, s.Out.Styles())
	}
	_, err := io.WriteString(s.Out, style.JoinLines(lines))
	return err
}

func blueprintTable(items []v1.BlueprintSummary, wide bool, out terminal.Output, st style.Styles) []string {
	cols := []style.Column{
		{Title: "NAME", Name: true, Least: 12},
		{Title: "TEMPLATE", Name: true, Least: 8, Spare: 2},
		{Title: "KIND", Spare: 1},
		{Title: "DESCRIPTION", Least: 16},
	}
	if wide {
		cols = append(cols, style.Column{Title: "FROM", Name: true, Least: 12})
	}
	for _, b := range items {
		kind := "blueprint"
		if b.IsTemplate {
			kind = "template"
		}
		cells := []string{b.Name, style.OrDash(b.Template), kind, style.OrDash(b.Description), b.From}
		for i := range cols {
			cols[i].Cells = append(cols[i].Cells, st.Text(cells[i]))
		}
	}
	return style.Table(cols, out.Room(), st)
}

// PrintBlueprintCheck says that blueprints are fine.
func PrintBlueprintCheck(s terminal.Streams, f Format, c *v1.BlueprintCheck) error {
	if !f.IsText() {
		return Print(s, f, c)
	}
	_, err := fmt.Fprintf(s.Out, "%s in %s: all fine\n", style.Plural(c.Blueprints, "blueprint"), style.Plural(len(c.Files), "file"))
	return err
}
