package printer

import (
	"time"

	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// sheet is the page that a document for people is laid out on: as wide as the
// terminal, and without an edge where nobody watches.
func sheet(out terminal.Output, now time.Time, st style.Styles) wording.Page {
	p := wording.Page{Width: out.Width(), Now: now, Styles: st}
	if !out.TTY {
		p.Width = 1 << 16
	}
	return p
}

// labels are lines of a name and a value; what has no value is left out.
func labels(st style.Styles, rows [][2]string) (lines []string) {
	for _, r := range rows {
		if r[1] != "" {
			lines = append(lines, style.Paint(st.Grey, style.Pad(r[0]+":", 14))+r[1])
		}
	}
	return lines
}
