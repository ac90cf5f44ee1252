package result

import (
	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal/style"
)

// VolumeFiles is what is in a directory of a volume.
type VolumeFiles struct{ v1.VolumeFiles }

// Names are those of what is there.
func (l VolumeFiles) Names() (names []string) {
	for _, f := range l.Items {
		names = append(names, f.Name)
	}
	return names
}

// Empty is the remark about a directory with nothing in it.
func (l VolumeFiles) Empty() string {
	if len(l.Items) > 0 {
		return ""
	}
	return "nothing is there"
}

// Text is a table.
func (l VolumeFiles) Text(p style.Page) ([]string, error) {
	cols := []style.Column{
		{Title: "MODE", DropOrder: 2},
		{Title: "SIZE"},
		{Title: "CHANGED", DropOrder: 1},
		{Title: "NAME", Name: true, Least: 12},
	}
	lines := table(cols, l.Items, p, func(f v1.VolumeFile) []string {
		what, name := size(f.Bytes), f.Name
		if f.Bytes == nil {
			what = f.Type
		}
		if f.Target != "" {
			name += " -> " + f.Target
		}
		return []string{f.Mode, what, style.Age(f.ModifiedAt, p.Now), name}
	})
	if l.More {
		lines = append(lines, style.Paragraph([]string{
			style.Paint(p.Yellow, p.Warning) + " there is more than is listed",
		})...)
	}
	return lines, nil
}
