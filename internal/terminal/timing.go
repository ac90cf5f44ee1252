package terminal

import (
	"fmt"

	v1 "github.com/berthdev/berth/api/v1"
)

// PrintTiming prints where a command's time went, on stderr.
func PrintTiming(s Streams, t *v1.Timing) {
	if t == nil {
		return
	}
	line := func(name string, seconds float64) { fmt.Fprintf(s.Err, "%9.3fs  %s\n", seconds, name) }
	fmt.Fprintln(s.Err)
	for _, step := range t.Steps {
		line(step.Name, step.Seconds)
	}
	for _, stage := range t.Stages {
		line(stage.Name, stage.Seconds)
	}
	line("in all", t.Seconds)
	_, _ = fmt.Fprintf(s.Err, "%9d   API requests\n", t.Requests)
}
