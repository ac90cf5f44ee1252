package terminal

import (
	"strings"

	"charm.land/lipgloss/v2"
)

// column is one column of a table.
type column struct {
	title string
	cells []string
	// styles colours a cell; nil leaves the column as it is.
	style func(row int) lipgloss.Style
	// name is whether a cell is a name, cut in the middle, or a message, cut at
	// its end; least is how narrow it may get, 0 for never cut.
	name  bool
	least int
}

// gap is what stands between two columns.
const gap = "   "

// table lays columns out. With room > 0 it cuts those that may be cut, the last
// one first, until a row fits; without, nothing is cut, so that scripts and
// grep see everything.
func table(cols []column, room int, st styles) []string {
	widths := make([]int, len(cols))
	total := len(gap) * (len(cols) - 1)
	for i, c := range cols {
		widths[i] = width(c.title)
		for _, cell := range c.cells {
			widths[i] = max(widths[i], width(cell))
		}
		total += widths[i]
	}
	for i := len(cols) - 1; i >= 0 && room > 0 && total > room; i-- {
		if least := max(cols[i].least, width(cols[i].title)); cols[i].least > 0 && widths[i] > least {
			less := min(widths[i]-least, total-room)
			widths[i], total = widths[i]-less, total-less
		}
	}
	lines := []string{tableRow(cols, widths, -1, st)}
	for row := range cols[0].cells {
		line := tableRow(cols, widths, row, st)
		if room > 0 {
			line = strings.Join(fit([]string{line}, room+1), "")
		}
		lines = append(lines, line)
	}
	return lines
}

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
