package printer

import (
	"fmt"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal"
)

// PrintTiming prints where the time of a provisioning went, on stderr: of one
// workspace or of each of several.
func PrintTiming(s terminal.Streams, r v1.Result) {
	if r.Summary == nil {
		if t := timingOf(r.Workspace, r.Error); t != nil {
			fmt.Fprintln(s.Err)
			printTiming(s, t)
			_, _ = fmt.Fprintf(s.Err, "%9d   API requests\n", t.Requests)
		}
		return
	}
	for _, item := range r.Summary.Items {
		if t := timingOf(item.Workspace, item.Error); t != nil {
			fmt.Fprintf(s.Err, "\n%s\n", s.Err.Styles().Text(item.UserString))
			printTiming(s, t)
		}
	}
	_, _ = fmt.Fprintf(s.Err, "\n%9.3fs  in total\n%9d   API requests\n", r.Summary.Seconds, r.Summary.Requests)
}

// timingOf is that of a workspace, whether it came up or not.
func timingOf(w *v1.Workspace, e *v1.Error) *v1.Timing {
	if e != nil {
		w = e.Workspace
	}
	if w == nil {
		return nil
	}
	return w.Timing
}

func printTiming(s terminal.Streams, t *v1.Timing) {
	line := func(name string, seconds float64) { fmt.Fprintf(s.Err, "%9.3fs  %s\n", seconds, name) }
	for _, step := range t.Steps {
		line(step.Name, step.Seconds)
	}
	for _, stage := range t.Stages {
		line(stage.Name, stage.Seconds)
	}
	line("total", t.Seconds)
}
