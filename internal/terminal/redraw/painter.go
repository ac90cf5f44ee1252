// Package redraw keeps a region at the bottom of a terminal up to date.
package redraw

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/berthdev/berth/internal/terminal/style"
)

// The sequences the painter needs.
const (
	hideCursor = "\x1b[?25l"
	showCursor = "\x1b[?25h"
	beginSync  = "\x1b[?2026h" // the terminal shows what follows at once
	endSync    = "\x1b[?2026l"
	eraseRight = "\x1b[K"
	eraseBelow = "\x1b[J"
)

// FrameTime lets a spinner turn smoothly; with the last frame, which does not
// wait, there are never more than ten in a second.
const FrameTime = 125 * time.Millisecond

// Painter keeps a region at the bottom of what has been written up to date. The
// cursor rests below the region. Every frame is one write.
type Painter struct {
	Out    io.Writer
	width  int // of the terminal when the region was painted
	region []string
	hidden bool
}

// Paint writes final lines above the region for good, and draws the region
// again from its first changed line on.
func (p *Painter) Paint(final, region []string, width int) {
	rows := p.rows(width)
	keep := 0
	if len(final) == 0 && width == p.width {
		keep = same(p.region, region)
		if keep == len(region) && keep == len(p.region) {
			return
		}
	}
	var b strings.Builder
	b.WriteString(beginSync)
	if !p.hidden {
		b.WriteString(hideCursor)
	}
	b.WriteString("\r")
	if up := rows - keep; up > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", up)
	}
	if len(final) > 0 || width != p.width {
		// Final lines may be longer than the terminal is wide, and a region
		// that was broken into more rows leaves some behind.
		b.WriteString(eraseBelow)
		p.region = nil
	}
	for _, line := range final {
		b.WriteString(line + "\r\n")
	}
	for i := keep; i < len(region); i++ {
		if i >= len(p.region) || p.region[i] != region[i] {
			b.WriteString(eraseRight + region[i])
		}
		b.WriteString("\r\n")
	}
	b.WriteString(eraseBelow + endSync)
	p.region, p.width, p.hidden = region, width, true
	_, _ = io.WriteString(p.Out, b.String()) // there is nowhere to report that the terminal is gone
}

// Close leaves the region as it is and gives the cursor back.
func (p *Painter) Close() {
	p.region = nil
	if p.hidden {
		p.hidden = false
		_, _ = io.WriteString(p.Out, showCursor)
	}
}

// rows is how many rows the region takes now. A terminal that was made narrower
// has broken the longer lines into several.
func (p *Painter) rows(now int) int {
	if now >= p.width || now <= 0 {
		return len(p.region)
	}
	rows := 0
	for _, line := range p.region {
		rows += max(1, (style.Width(line)+now-1)/now)
	}
	return rows
}

// same counts the lines that two regions begin with in common.
func same(a, b []string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
