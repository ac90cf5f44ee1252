package bundle

import (
	"strings"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal/style"
)

// Diff is what an installation would change.
type Diff struct{ v1.BundleDiff }

// Names are kind/name of each object that would change.
func (d Diff) Names() (names []string) {
	for _, o := range d.Items {
		names = append(names, o.Object)
	}
	return names
}

// Empty is the remark about no difference.
func (d Diff) Empty() string {
	if len(d.Items) > 0 {
		return ""
	}
	return "nothing would change"
}

// Text is the lines that would change, below the name of each object.
func (d Diff) Text(p style.Page) (lines []string, err error) {
	for _, o := range d.Items {
		name := o.Object
		if o.Namespace != "" {
			name += " in namespace " + o.Namespace
		}
		lines = append(lines, style.Paint(p.Bold, p.Text(o.Action+" "+name)))
		for line := range strings.SplitSeq(strings.TrimSuffix(o.Diff, "\n"), "\n") {
			lines = append(lines, coloured(line, p))
		}
	}
	return lines, nil
}

func coloured(line string, p style.Page) string {
	inner := strings.TrimLeft(line, " ")
	rest := line[:len(line)-len(inner)] + p.Text(inner)
	switch {
	case strings.HasPrefix(line, "@@"):
		return style.Paint(p.Grey, rest)
	case strings.HasPrefix(line, "+"):
		return style.Paint(p.Green, rest)
	case strings.HasPrefix(line, "-"):
		return style.Paint(p.Red, rest)
	}
	return rest
}
