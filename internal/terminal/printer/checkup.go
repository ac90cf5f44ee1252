package printer

import (
	"fmt"
	"time"

	"charm.land/lipgloss/v2"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/style"
)

// checkupLines are the checks, one after the other, each with what to do about
// it, and in the end how many there were of what.
func checkupLines(c v1.Checkup, out terminal.Output, st style.Styles) []string {
	room := sheet(out, time.Time{}, st).Width
	names := 0
	for _, item := range c.Items {
		names = max(names, style.Width(item.Name))
	}
	counts := map[v1.CheckupStatus]int{}
	var lines []string
	for _, item := range c.Items {
		counts[item.Status]++
		colour, sign := checkupSign(item.Status, st)
		begin := style.Paint(colour, sign) + " " + style.Pad(st.Text(item.Name), names) + "  "
		texts := st.Paragraphs(item.Message)
		for _, p := range item.Problems {
			texts = append(texts, "- "+st.Text(p))
		}
		for _, h := range st.Paragraphs(item.Hint) {
			texts = append(texts, st.Arrow+" "+h)
		}
		for _, text := range texts {
			for _, line := range style.Wrap(text, max(room-names-5, 20)) {
				lines = append(lines, begin+line)
				begin = style.Pad("", names+4)
			}
		}
	}
	return append(lines, "", fmt.Sprintf("%d ok, %s, %d failed, %d skipped", counts[v1.CheckupOK],
		style.Plural(counts[v1.CheckupWarning], "warning"), counts[v1.CheckupFailed], counts[v1.CheckupSkipped]))
}

func checkupSign(s v1.CheckupStatus, st style.Styles) (lipgloss.Style, string) {
	switch s {
	case v1.CheckupOK:
		return st.Green, st.Done
	case v1.CheckupWarning:
		return st.Yellow, st.Warning
	case v1.CheckupFailed:
		return st.Red, st.Failed
	default:
		return st.Grey, st.Stopped
	}
}
