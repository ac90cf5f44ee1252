package printer

import (
	"strconv"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/style"
)

// eventTable is what Kubernetes recorded about a workspace, the one that
// happened last at the end.
func eventTable(events []v1.ObjectEvent, out terminal.Output, st style.Styles, now time.Time) []string {
	level := func(row int) lipgloss.Style {
		if events[row].Type == "Warning" {
			return st.Yellow
		}
		return lipgloss.Style{}
	}
	cols := []style.Column{
		{Title: "AGE"},
		{Title: "COUNT", Spare: 2},
		{Title: "TYPE", Spare: 1, Style: level},
		{Title: "REASON", Name: true, Least: 10},
		{Title: "OBJECT", Name: true, Least: 12, Spare: 3},
		{Title: "MESSAGE", Least: 16},
	}
	for _, e := range events {
		cells := []string{eventAge(e, now), strconv.Itoa(e.Count), e.Type, e.Reason, e.Object, strings.Join(strings.Fields(e.Message), " ")}
		for i, cell := range cells {
			cols[i].Cells = append(cols[i].Cells, st.Text(cell))
		}
	}
	return style.Table(cols, out.Room(), st)
}

// eventAge is when an event happened last, and since when it has if it repeats.
func eventAge(e v1.ObjectEvent, now time.Time) string {
	if e.Count > 1 && e.FirstAt.Before(e.At) {
		return style.Age(e.At, now) + " (over " + style.Age(e.FirstAt, now) + ")"
	}
	return style.Age(e.At, now)
}
