package live

import (
	"fmt"
	"strings"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// itemLine is the line of one step, stage or past warning.
func itemLine(it item, v view) string {
	if it.kind == warningItem {
		return wording.WarningLine(it.warning, v.Page, false)
	}
	name := style.Pad(v.Styles.CutMiddle(v.Styles.Text(it.name), nameWidth), nameWidth)
	took := ""
	switch {
	case it.state != running:
		took = style.Brief(it.took)
	case v.Now.Sub(it.begun) >= 1e9:
		took = style.Whole(v.Now.Sub(it.begun))
	}
	room := max(v.Width-1-prefixWidth-2-tookWidth, 0)
	message := style.Pad(v.Styles.Cut(v.Styles.Text(it.message), room), room)
	line := "  " + sign(it.state, v) + " " + name + " " + message + "  " + style.Paint(v.Styles.Grey, took)
	return strings.TrimRight(line, " ")
}

func sign(s itemState, v view) string {
	switch s {
	case done:
		return style.Paint(v.Styles.Green, v.Styles.Done)
	case failed:
		return style.Paint(v.Styles.Red, v.Styles.Failed)
	case stopped:
		return style.Paint(v.Styles.Grey, v.Styles.Stopped)
	default:
		return v.Styles.Spinner[v.frame%len(v.Styles.Spinner)]
	}
}

func progressLine(p v1.Progress, v view) string {
	count := ""
	switch {
	case p.Total > 0:
		count = fmt.Sprintf("  %d/%d", p.Done, p.Total)
	case p.Done > 0:
		count = fmt.Sprintf("  %d", p.Done)
	}
	text := v.Styles.Cut(v.Styles.Text(p.Message), max(v.Width-1-6-style.Width(count), 0))
	return "      " + text + style.Paint(v.Styles.Grey, count)
}
