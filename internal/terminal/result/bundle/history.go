package bundle

import (
	"strconv"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal/style"
)

// History is the revisions of an instance.
type History struct{ v1.BundleHistory }

// Names are the numbers of the revisions, as `berth bundle rollback` takes them.
func (h History) Names() (names []string) {
	for _, r := range h.Items {
		names = append(names, strconv.Itoa(r.Revision))
	}
	return names
}

// Empty is the remark about an instance of which nothing is recorded.
func (h History) Empty() string {
	if len(h.Items)+len(h.Warnings) > 0 {
		return ""
	}
	return "no revision of " + h.Name + " is recorded"
}

// Text is a table.
func (h History) Text(p style.Page) ([]string, error) {
	columns := []column[v1.BundleRevision]{
		{style.Column{Title: "REVISION"}, func(r v1.BundleRevision) string { return strconv.Itoa(r.Revision) }},
		{
			style.Column{
				Title: "STATUS", Style: func(row int) lipgloss.Style { return colourOfStatus(h.Items[row].Status, p) },
			},
			func(r v1.BundleRevision) string { return r.Status },
		},
		{style.Column{Title: "AGE"}, func(r v1.BundleRevision) string { return style.Age(r.At, p.Now) }},
		{
			style.Column{Title: "VERSION", Name: true, Least: 8, DropOrder: 1},
			func(r v1.BundleRevision) string { return style.OrDash(strings.TrimSpace(r.Package + " " + r.Version)) },
		},
		{
			style.Column{Title: "BUNDLE", Name: true, Least: 10, DropOrder: 2},
			func(r v1.BundleRevision) string { return style.OrDash(r.Bundle) },
		},
		{
			style.Column{Title: "SOURCE", Name: true, Least: 16},
			func(r v1.BundleRevision) string { return style.OrDash(r.Source) },
		},
	}
	if p.Wide {
		columns = append(columns,
			column[v1.BundleRevision]{
				style.Column{Title: "AT", DropOrder: 4},
				func(r v1.BundleRevision) string { return r.At.UTC().Format(time.RFC3339) },
			},
			column[v1.BundleRevision]{
				style.Column{Title: "OBJECTS", DropOrder: 5},
				func(r v1.BundleRevision) string { return strconv.Itoa(r.Objects) },
			},
			column[v1.BundleRevision]{
				style.Column{Title: "DIGEST", Name: true, Least: 16, DropOrder: 6},
				func(r v1.BundleRevision) string { return style.OrDash(r.Digest) },
			})
	}
	columns = append(columns, column[v1.BundleRevision]{
		style.Column{Title: "WHY", Least: 12}, func(r v1.BundleRevision) string { return r.Message },
	})
	lines := table(p, h.Items, columns...)
	for _, warning := range h.Warnings {
		for _, line := range p.Paragraphs(warning) {
			lines = append(lines, p.Indent(style.Paint(p.Yellow, p.Warning)+" "+line)...)
		}
	}
	return lines, nil
}

func colourOfStatus(status string, p style.Page) lipgloss.Style {
	switch status {
	case "deployed":
		return p.Green
	case "failed":
		return p.Red
	default:
		return p.Grey
	}
}
