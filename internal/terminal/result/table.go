package result

import "github.com/berthdev/berth/internal/terminal/style"

// table lays out a row of cells for each item; nothing without items.
func table[T any](cols []style.Column, items []T, p style.Page, cells func(T) []string) []string {
	if len(items) == 0 {
		return nil
	}
	fill(cols, items, p, cells)
	return style.Table(cols, p.Table().Room, p.Styles)
}

// fill adds the cells of the items to the columns.
func fill[T any](cols []style.Column, items []T, p style.Page, cells func(T) []string) {
	for _, item := range items {
		for i, cell := range cells(item)[:len(cols)] {
			cols[i].Cells = append(cols[i].Cells, p.Text(cell))
		}
	}
}
