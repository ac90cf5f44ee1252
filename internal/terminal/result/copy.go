package result

import (
	"fmt"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/english"
	"github.com/berthdev/berth/internal/terminal/style"
)

// Copy is what was copied.
type Copy struct{ v1.CopyResult }

// Names are that of the destination.
func (c Copy) Names() []string { return []string{c.Destination} }

// Text says how much was copied, how fast, and where it is.
func (c Copy) Text(p style.Page) ([]string, error) {
	took := style.Seconds(c.Seconds)
	lines := []string{fmt.Sprintf("%s Copied %s, %s, in %s (%s) to %s", style.Paint(p.Green, p.Done),
		english.Plural(int(c.Files), "file"),
		style.Bytes(c.Bytes)+"B", style.Brief(took), style.Rate(c.Bytes, took), p.Text(c.where()))}
	for _, warning := range c.Warnings {
		lines = append(lines, style.Paint(p.Yellow, p.Warning)+" "+p.Text(warning))
	}
	return lines, nil
}

func (c Copy) where() string {
	if c.Direction == v1.CopyTo {
		return c.ID + ":" + c.Destination
	}
	return c.Destination
}
