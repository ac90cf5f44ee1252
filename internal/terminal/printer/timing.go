package printer

import (
	"fmt"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal"
)

// PrintTiming prints where a command's time went, on stderr.
func PrintTiming(s terminal.Streams, t *v1.Timing) {
	if t == nil {
		return
	}
	fmt.Fprintln(s.Err)
	printTiming(s, t)
	_, _ = fmt.Fprintf(s.Err, "%9d   API requests\n", t.Requests)
}

// PrintTimings prints that of each of several workspaces.
func PrintTimings(s terminal.Streams, of v1.ProvisionSummary) {
	st := s.Err.Styles()
	for _, item := range of.Items {
		w := item.Workspace
		if item.Error != nil {
			w = item.Error.Workspace
		}
		if w == nil || w.Timing == nil {
			continue
		}
		fmt.Fprintf(s.Err, "\n%s\n", st.Text(item.UserString))
		printTiming(s, w.Timing)
	}
	_, _ = fmt.Fprintf(s.Err, "\n%9.3fs  for all\n%9d   API requests\n", of.Seconds, of.Requests)
}

func printTiming(s terminal.Streams, t *v1.Timing) {
	line := func(name string, seconds float64) { fmt.Fprintf(s.Err, "%9.3fs  %s\n", seconds, name) }
	for _, step := range t.Steps {
		line(step.Name, step.Seconds)
	}
	for _, stage := range t.Stages {
		line(stage.Name, stage.Seconds)
	}
	line("in all", t.Seconds)
}
