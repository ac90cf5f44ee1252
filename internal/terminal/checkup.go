package terminal

import (
	"fmt"

	"charm.land/lipgloss/v2"

	v1 "github.com/berthdev/berth/api/v1"
)

// checkupLines are the checks, one after the other, each with what to do about
// it, and in the end how many there were of what.
func checkupLines(c v1.Checkup, out Output, st styles) []string {
	room := out.Width()
	if !out.TTY {
		room = 1 << 16 // nothing is broken where nobody watches
	}
	names := 0
	for _, item := range c.Items {
		names = max(names, width(item.Name))
	}
	counts := map[v1.CheckupStatus]int{}
	var lines []string
	for _, item := range c.Items {
		counts[item.Status]++
		style, sign := checkupSign(item.Status, st)
		begin := paint(style, sign) + " " + pad(st.text(item.Name), names) + "  "
		texts := st.paragraphs(item.Message)
		for _, p := range item.Problems {
			texts = append(texts, "- "+st.text(p))
		}
		for _, h := range st.paragraphs(item.Hint) {
			texts = append(texts, st.arrow+" "+h)
		}
		for _, text := range texts {
			for _, line := range wrap(text, max(room-names-5, 20)) {
				lines = append(lines, begin+line)
				begin = pad("", names+4)
			}
		}
	}
	return append(lines, "", fmt.Sprintf("%d ok, %s, %d failed, %d skipped", counts[v1.CheckupOK],
		plural(counts[v1.CheckupWarning], "warning"), counts[v1.CheckupFailed], counts[v1.CheckupSkipped]))
}

func checkupSign(s v1.CheckupStatus, st styles) (lipgloss.Style, string) {
	switch s {
	case v1.CheckupOK:
		return st.green, st.done
	case v1.CheckupWarning:
		return st.yellow, st.warning
	case v1.CheckupFailed:
		return st.red, st.failed
	default:
		return st.grey, st.stopped
	}
}
