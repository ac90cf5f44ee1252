package result

import (
	"fmt"
	"slices"

	"charm.land/lipgloss/v2"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/english"
	"github.com/berthdev/berth/internal/terminal/style"
)

// Checkup is what `berth doctor` has found.
type Checkup struct{ v1.Checkup }

// Text is the checks, each with what to do about it, and how many there are of
// which status.
func (c Checkup) Text(p style.Page) ([]string, error) {
	widest := 0
	for _, item := range c.Items {
		widest = max(widest, style.Width(item.Name))
	}
	counts := map[v1.CheckupStatus]int{}
	var lines []string
	for _, item := range c.Items {
		counts[item.Status]++
		colour, sign := checkupSign(item.Status, p.Styles)
		begin := style.Paint(colour, sign) + " " + style.Pad(p.Text(item.Name), widest) + "  "
		texts := p.Paragraphs(item.Message)
		texts = append(texts, slices.Concat(items(p, item.Problems, item.Excerpts)...)...)
		for _, h := range p.Paragraphs(item.Hint) {
			texts = append(texts, p.Arrow+" "+h)
		}
		for _, text := range texts {
			for _, line := range p.Wrap(text, p.Width-widest-5) {
				lines = append(lines, begin+line)
				begin = style.Pad("", widest+4)
			}
		}
	}
	return append(lines, "", fmt.Sprintf("%d ok, %s, %d failed, %d skipped", counts[v1.CheckupOK],
		english.Plural(counts[v1.CheckupWarning], "warning"), counts[v1.CheckupFailed], counts[v1.CheckupSkipped])), nil
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
