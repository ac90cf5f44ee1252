package result

import (
	"fmt"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/english"
	"github.com/berthdev/berth/internal/terminal/style"
)

// Restoration is what was restored of a volume.
type Restoration struct{ v1.VolumeRestoration }

// Names are that of the destination.
func (r Restoration) Names() []string { return []string{r.Destination} }

// Text says how much was restored, and where it is.
func (r Restoration) Text(p style.Page) ([]string, error) {
	where := r.Destination
	if r.Workspace != "" {
		where = r.Workspace + ":" + r.Destination
	}
	took := style.Seconds(r.Seconds)
	lines := []string{fmt.Sprintf("%s Restored %s, %s, in %s (%s) to %s", style.Paint(p.Green, p.Done),
		english.Plural(int(r.Files), "file"),
		style.Bytes(r.Bytes)+"B", style.Brief(took), style.Rate(r.Bytes, took), p.Text(where))}
	for _, warning := range r.Warnings {
		lines = append(lines, style.Paint(p.Yellow, p.Warning)+" "+p.Text(warning))
	}
	return lines, nil
}
