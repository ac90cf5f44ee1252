package terminal

import (
	"strconv"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	v1 "github.com/berthdev/berth/api/v1"
)

// eventTable is what Kubernetes recorded about a workspace, the one that
// happened last at the end.
func eventTable(events []v1.ObjectEvent, out Output, st styles, now time.Time) []string {
	level := func(row int) lipgloss.Style {
		if events[row].Type == "Warning" {
			return st.yellow
		}
		return lipgloss.Style{}
	}
	cols := []column{
		{title: "AGE"},
		{title: "COUNT", spare: 2},
		{title: "TYPE", spare: 1, style: level},
		{title: "REASON", name: true, least: 10},
		{title: "OBJECT", name: true, least: 12, spare: 3},
		{title: "MESSAGE", least: 16},
	}
	for _, e := range events {
		cells := []string{eventAge(e, now), strconv.Itoa(e.Count), e.Type, e.Reason, e.Object, strings.Join(strings.Fields(e.Message), " ")}
		for i, cell := range cells {
			cols[i].cells = append(cols[i].cells, st.text(cell))
		}
	}
	room := 0
	if out.TTY {
		room = out.Width() - 1
	}
	return table(cols, room, st)
}

// eventAge is when an event happened last, and since when it has if it repeats.
func eventAge(e v1.ObjectEvent, now time.Time) string {
	if e.Count > 1 && e.FirstAt.Before(e.At) {
		return age(e.At, now) + " (over " + age(e.FirstAt, now) + ")"
	}
	return age(e.At, now)
}
