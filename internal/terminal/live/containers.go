package live

import (
	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// containerLines are the containers below the running stage. As long as all of
// them wait, they say nothing that the stage does not.
func containerLines(cs []v1.Container, v view) []string {
	widest, news := 0, false
	for _, c := range cs {
		widest = max(widest, style.Width(v.Styles.Text(c.Name)))
		news = news || c.State != v1.ContainerWaiting
	}
	if !news {
		return nil
	}
	widest = min(widest, max(v.Width/2-6, 8))
	lines := make([]string, 0, len(cs))
	for _, c := range cs {
		name := style.Pad(v.Styles.CutMiddle(v.Styles.Text(c.Name), widest), widest)
		state := v.Styles.Cut(v.Styles.Text(wording.ContainerText(c)), max(v.Width-1-6-widest-3, 0))
		lines = append(lines, "      "+style.Paint(v.Styles.Grey, name)+"   "+style.Paint(v.Styles.Container(c.State), state))
	}
	return lines
}
