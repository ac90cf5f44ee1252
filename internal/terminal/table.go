package terminal

import (
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
)

// column is one column of a table.
type column struct {
	title string
	cells []string
	// style colours a cell; nil leaves the column as it is.
	style func(row int) lipgloss.Style
	// name is whether a cell is a name, cut in the middle, or a message, cut at
	// its end; least is how narrow it may get, 0 for never cut.
	name  bool
	least int
	// spare columns are left out where there is no room, the highest first.
	spare int
}

// gap is what stands between two columns.
const gap = "   "

// table lays columns out. With room > 0 it leaves columns out and cuts the
// widest ones until a row fits; without, everything is there, so that scripts
// and grep see it.
func table(cols []column, room int, st styles) []string {
	if room > 0 {
		cols = affordable(cols, room)
	}
	widths, total := natural(cols)
	for room > 0 && total > room {
		widest := -1
		for i, c := range cols {
			if c.least > 0 && widths[i] > c.narrowest() && (widest < 0 || widths[i] >= widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		widths[widest], total = widths[widest]-1, total-1
	}
	lines := make([]string, 0, len(cols[0].cells)+1)
	for row := -1; row < len(cols[0].cells); row++ {
		lines = append(lines, tableRow(cols, widths, row, st))
	}
	if room > 0 {
		fit(lines, room+1)
	}
	return lines
}

// natural is how wide columns are if nothing is cut.
func natural(cols []column) (widths []int, total int) {
	total = len(gap) * (len(cols) - 1)
	for _, c := range cols {
		w := width(c.title)
		for _, cell := range c.cells {
			w = max(w, width(cell))
		}
		widths, total = append(widths, w), total+w
	}
	return widths, total
}

// affordable leaves spare columns out until the rest fits when it is cut.
func affordable(cols []column, room int) []column {
	for {
		widths, total := natural(cols)
		spare := 0
		for i, c := range cols {
			if c.least > 0 {
				total -= widths[i] - min(widths[i], c.narrowest())
			}
			if c.spare > cols[spare].spare {
				spare = i
			}
		}
		if total <= room || cols[spare].spare == 0 {
			return cols
		}
		cols = slices.Delete(slices.Clone(cols), spare, spare+1)
	}
}

// narrowest is how narrow a column that may be cut can get.
func (c column) narrowest() int { return max(c.least, width(c.title)) }

// tableRow is one row; -1 is the titles.
func tableRow(cols []column, widths []int, row int, st styles) string {
	cells := make([]string, len(cols))
	for i, c := range cols {
		if row < 0 {
			cells[i] = paint(st.grey, c.title) + strings.Repeat(" ", widths[i]-width(c.title))
			continue
		}
		cell := st.cut(c.cells[row], widths[i])
		if c.name {
			cell = st.cutMiddle(c.cells[row], widths[i])
		}
		cells[i] = pad(cell, widths[i])
		if c.style != nil {
			cells[i] = paint(c.style(row), cell) + strings.Repeat(" ", widths[i]-width(cell))
		}
	}
	return strings.TrimRight(strings.Join(cells, gap), " ")
}
