package result

import (
	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal/style"
)

// Purge is what was removed.
type Purge struct{ v1.VolumePurge }

// Names are the IDs of what is gone.
func (r Purge) Names() (names []string) {
	for _, v := range r.Items {
		if v.Error == nil {
			names = append(names, v.ID)
		}
	}
	return names
}

// Empty is the remark where there was nothing to remove.
func (r Purge) Empty() string {
	if len(r.Items) > 0 {
		return ""
	}
	return "no such volumes"
}

// Text is a line for each volume.
func (r Purge) Text(p style.Page) (lines []string, err error) {
	for _, v := range r.Items {
		what := p.Text(ShortVolume(v.ID) + " on node " + v.Node)
		if of := v.UserString; of != "" {
			what += p.Text(", storage " + v.Storage + " of " + of)
		}
		if v.Error != nil {
			lines = append(lines, style.Paint(p.Red, p.Failed)+" "+what+": "+p.Text(v.Error.Message))
			continue
		}
		lines = append(lines, style.Paint(p.Green, p.Done)+" Removed "+what)
	}
	return lines, nil
}
