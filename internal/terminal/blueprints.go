package terminal

import (
	"fmt"
	"io"

	v1 "github.com/berthdev/berth/api/v1"
)

// PrintBlueprints prints the list of blueprints.
func PrintBlueprints(s Streams, f Format, list *v1.BlueprintList) error {
	var lines []string
	switch {
	case f.kind == formatName:
		for _, b := range list.Items {
			lines = append(lines, b.Name)
		}
	case !f.IsText():
		return Print(s, f, list)
	default:
		lines = blueprintTable(list.Items, f.kind == formatWide, s.Out, newStyles(s.Out.Capabilities))
	}
	_, err := io.WriteString(s.Out, joinLines(lines))
	return err
}

func blueprintTable(items []v1.BlueprintSummary, wide bool, out Output, st styles) []string {
	cols := []column{
		{title: "NAME", name: true, least: 12},
		{title: "TEMPLATE", name: true, least: 8, spare: 2},
		{title: "KIND", spare: 1},
		{title: "DESCRIPTION", least: 16},
	}
	if wide {
		cols = append(cols, column{title: "FROM", name: true, least: 12})
	}
	for _, b := range items {
		kind := "blueprint"
		if b.IsTemplate {
			kind = "template"
		}
		cells := []string{b.Name, orDash(b.Template), kind, orDash(b.Description), b.From}
		for i := range cols {
			cols[i].cells = append(cols[i].cells, st.text(cells[i]))
		}
	}
	room := 0
	if out.TTY {
		room = out.Width() - 1
	}
	return table(cols, room, st)
}

// PrintBlueprintCheck says that blueprints are fine.
func PrintBlueprintCheck(s Streams, f Format, c *v1.BlueprintCheck) error {
	if !f.IsText() {
		return Print(s, f, c)
	}
	_, err := fmt.Fprintf(s.Out, "%s in %s: all fine\n", plural(c.Blueprints, "blueprint"), plural(len(c.Files), "file"))
	return err
}
