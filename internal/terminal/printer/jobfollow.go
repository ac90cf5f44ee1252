package printer

import (
	"fmt"
	"strings"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/style"
)

// JobFollower prints a job while it grows: each entry once, in a line. Where a
// document is asked for, that is printed at the end.
type JobFollower struct {
	streams terminal.Streams
	format  Format
	st      style.Styles
	shown   map[string]string // messages by the IDs of entries
}

// FollowJob makes the printer of one job.
func FollowJob(s terminal.Streams, f Format) *JobFollower {
	return &JobFollower{streams: s, format: f, st: s.Out.Styles(), shown: map[string]string{}}
}

// Show prints what is new, and what has happened again.
func (f *JobFollower) Show(j v1.Job) {
	if !f.format.IsText() {
		return
	}
	for _, e := range j.Events {
		if before, ok := f.shown[e.ID]; ok && before == e.Message {
			continue
		}
		f.shown[e.ID] = e.Message
		cells := eventCells(j, e)
		for i, width := range []int{0, 8, 8, 12, 0} {
			cells[i] = style.Pad(f.st.Text(cells[i]), width)
		}
		cells[len(cells)-1] = f.st.Text(cells[len(cells)-1])
		fmt.Fprintln(f.streams.Out, strings.TrimRight(strings.Join(cells, "  "), " "))
	}
}

// End prints the document, if one was asked for.
func (f *JobFollower) End(j v1.Job) error {
	if f.format.IsText() {
		return nil
	}
	return Print(f.streams, f.format, &j)
}
