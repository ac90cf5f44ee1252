package style

import (
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
)

// Column is one column of a table.
type Column struct {
	Title string
	Cells []string
	// Style colours a cell; nil leaves the column as it is.
	Style func(row int) lipgloss.Style
	// Name is whether a cell is a name, cut in the middle, or a message, cut at
	// its end; image, whether it is an image, of which the tag stays; least is
	// how narrow it may get, 0 for never cut.
	Name, Image bool
	Least       int
	// DropOrder says which columns are omitted where there is no room, the highest first; 0 is never.
	DropOrder int
}

// gap separates two columns.
const gap = "   "

// Table lays columns out. With room > 0 it leaves columns out and cuts the
// widest ones until a row fits; without, everything is there, so that scripts
// and grep see it.
func Table(cols []Column, room int, st Styles) []string {
	if room > 0 {
		cols = affordable(cols, room)
	}
	widths, total := Natural(cols)
	for room > 0 && total > room {
		widest := -1
		for i, c := range cols {
			if c.Least > 0 && widths[i] > c.narrowest() && (widest < 0 || widths[i] >= widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		widths[widest], total = widths[widest]-1, total-1
	}
	lines := make([]string, 0, len(cols[0].Cells)+1)
	for row := -1; row < len(cols[0].Cells); row++ {
		lines = append(lines, TableRow(cols, widths, row, st))
	}
	if room > 0 {
		Fit(lines, room+1)
	}
	return lines
}

// Rows is Table of a row of cells for each item; nothing without items.
func Rows[T any](cols []Column, items []T, p Page, cells func(T) []string) []string {
	if len(items) == 0 {
		return nil
	}
	AddRows(cols, items, p, cells)
	return Table(cols, p.Table().Room, p.Styles)
}

// AddRows adds the cells of the items to the columns, as text that a terminal shows.
func AddRows[T any](cols []Column, items []T, p Page, cells func(T) []string) {
	for _, item := range items {
		for i, cell := range cells(item)[:len(cols)] {
			cols[i].Cells = append(cols[i].Cells, p.Text(cell))
		}
	}
}

// Natural is how wide columns are if nothing is cut.
func Natural(cols []Column) (widths []int, total int) {
	total = len(gap) * (len(cols) - 1)
	for _, c := range cols {
		w := Width(c.Title)
		for _, cell := range c.Cells {
			w = max(w, Width(cell))
		}
		widths, total = append(widths, w), total+w
	}
	return widths, total
}

// Spare is the room that columns leave for another one beside them.
func Spare(cols []Column, room int) int {
	_, total := Natural(cols)
	return room - total - len(gap)
}

// Least is how wide those of the columns are that are never left out, if what may be cut is.
func Least(cols []Column) int {
	return narrow(slices.DeleteFunc(slices.Clone(cols), func(c Column) bool { return c.DropOrder > 0 }))
}

// narrow is how wide columns are if what may be cut is.
func narrow(cols []Column) int {
	widths, total := Natural(cols)
	for i, c := range cols {
		if c.Least > 0 {
			total -= widths[i] - min(widths[i], c.narrowest())
		}
	}
	return total
}

// affordable leaves drop columns out until the rest fits when it is cut.
func affordable(cols []Column, room int) []Column {
	for {
		drop := 0
		for i, c := range cols {
			if c.DropOrder > cols[drop].DropOrder {
				drop = i
			}
		}
		if narrow(cols) <= room || cols[drop].DropOrder == 0 {
			return cols
		}
		cols = slices.Delete(slices.Clone(cols), drop, drop+1)
	}
}

// narrowest is how narrow a column that may be cut can get.
func (c Column) narrowest() int { return max(c.Least, Width(c.Title)) }

// TableRow is one row; -1 is the titles.
func TableRow(cols []Column, widths []int, row int, st Styles) string {
	cells := make([]string, len(cols))
	for i, c := range cols {
		if row < 0 {
			cells[i] = Paint(st.Grey, c.Title) + strings.Repeat(" ", widths[i]-Width(c.Title))
			continue
		}
		cut := st.Cut
		switch {
		case c.Name:
			cut = st.CutMiddle
		case c.Image:
			cut = st.CutStart
		}
		cell := cut(c.Cells[row], widths[i])
		cells[i] = Pad(cell, widths[i])
		if c.Style != nil {
			cells[i] = Paint(c.Style(row), cell) + strings.Repeat(" ", widths[i]-Width(cell))
		}
	}
	return strings.TrimRight(strings.Join(cells, gap), " ")
}
