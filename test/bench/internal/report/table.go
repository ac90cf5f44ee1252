package report

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Table is a section as text: medians, how they compare, how far they spread.
func Table(s Section) string {
	rows := [][]string{{s.Title}, nil}
	rows[0] = append(rows[0], programs()...)
	rows[0] = append(rows[0], "helm/berth", "kubectl/berth", "berth min–max", "helm min–max", "aim")
	for _, metric := range metrics() {
		if len(s.of(Berth, metric)) > 0 {
			rows = append(rows, row(s, metric))
		}
	}
	return align(rows)
}

func row(s Section, metric Metric) []string {
	cells := []string{string(metric)}
	spreads := map[string]Spread{}
	for _, program := range programs() {
		spreads[program] = spread(s.of(program, metric))
		cells = append(cells, metric.format(spreads[program].Median))
	}
	own := spreads[Berth]
	cells = append(cells, ratio(spreads[Helm], own), ratio(spreads[Kubectl], own), span(metric, own),
		span(metric, spreads[Helm]), "")
	if a, ok := aim(s, metric); ok {
		mark := "✘"
		if a.Met {
			mark = "✔"
		}
		cells[len(cells)-1] = mark + " " + a.Text
	}
	return cells
}

func ratio(other, own Spread) string {
	if own.Median <= 0 || other.N == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f×", other.Median/own.Median)
}

func span(metric Metric, s Spread) string {
	return metric.format(s.Min) + " – " + metric.format(s.Max)
}

// align pads columns: the first and the last to the left, numbers to the right.
// A row without cells is a rule.
func align(rows [][]string) string {
	var widths []int
	for _, cells := range rows {
		for i, cell := range cells {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var out strings.Builder
	for _, cells := range rows {
		var line strings.Builder
		for i, width := range widths {
			if cells == nil {
				line.WriteString(strings.Repeat("─", width) + "  ")
				continue
			}
			padding := strings.Repeat(" ", width-utf8.RuneCountInString(cells[i]))
			if i == 0 || i == len(widths)-1 {
				line.WriteString(cells[i] + padding + "  ")
			} else {
				line.WriteString(padding + cells[i] + "  ")
			}
		}
		out.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return out.String()
}
