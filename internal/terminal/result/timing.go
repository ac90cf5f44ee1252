package result

import (
	"fmt"
	"slices"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal/style"
)

// TimingLines say where the time of a provisioning went: of one workspace or of
// each of several.
func TimingLines(r v1.Result, st style.Styles) (lines []string) {
	add := func(seconds float64, name string) { lines = append(lines, fmt.Sprintf("%9.3fs  %s", seconds, name)) }
	requests := func(n int) { lines = append(lines, fmt.Sprintf("%9d   API requests", n)) }
	steps := func(t *v1.Timing) {
		for _, step := range append(slices.Clip(t.Steps), t.Stages...) {
			add(step.Seconds, step.Name)
		}
		add(t.Seconds, "total")
	}
	if r.Summary == nil {
		if t := timing(r.Workspace, r.Error); t != nil {
			lines = append(lines, "")
			steps(t)
			requests(t.Requests)
		}
		return lines
	}
	for _, item := range r.Summary.Items {
		if t := timing(item.Workspace, item.Error); t != nil {
			lines = append(lines, "", st.Text(item.UserString))
			steps(t)
		}
	}
	lines = append(lines, "")
	add(r.Summary.Seconds, "in total")
	requests(r.Summary.Requests)
	return lines
}

// timing is that of a workspace, whether it came up or not; nil if there is none.
func timing(w *v1.Workspace, e *v1.Error) *v1.Timing {
	if e != nil {
		w = e.Workspace
	}
	if w == nil {
		return nil
	}
	return w.Timing
}
