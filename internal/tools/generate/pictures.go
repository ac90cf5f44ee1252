package main

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/live"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// recordings are what `berth provision --output jsonl` said on the test
// cluster. The pictures show what the live view of today makes of it.
//
//go:embed recordings/*.jsonl
var recordings embed.FS

// still is a picture of one moment of a recording.
type still struct {
	name, recording, command string
	columns                  int
	after                    time.Duration // 0: the end
}

func stills() []still {
	return []still{
		{"pulling", "running", "berth provision alice~dev", 88, 10500 * time.Millisecond},
		{"running", "running", "berth provision alice~dev", 88, 0},
		{"failed", "failed", "berth provision alice~typo", 88, 0},
		{"batch", "batch", "berth provision -f team.txt", 88, 9800 * time.Millisecond},
	}
}

// pictures makes the pictures of the README.
func pictures(all files) error {
	for _, s := range stills() {
		content, err := s.draw()
		if err != nil {
			return fmt.Errorf("picture %s: %w", s.name, err)
		}
		all["docs/pictures/"+s.name+".svg"] = content
	}
	return nil
}

func (s still) draw() ([]byte, error) {
	raw, err := recordings.ReadFile("recordings/" + s.recording + ".jsonl")
	if err != nil {
		return nil, err
	}
	events, err := readRecording(raw)
	if err != nil {
		return nil, err
	}
	last := events[len(events)-1]
	view := live.Still{Look: terminal.Capabilities{TTY: true, Live: true, Unicode: true, Profile: style.Colour16}, Width: s.columns, At: last.At}
	if s.after > 0 {
		view.At = events[0].At.Add(s.after)
	}
	lines := []string{"$ " + s.command}
	if summary := last.Result.Summary; summary != nil {
		lines = append(lines, view.OfMany(batchOf(*summary), events)...)
	} else {
		lines = append(lines, view.Of(titleOf(*last.Result), events)...)
	}
	return picture(s.command, lines, s.columns)
}

// readRecording reads events, and the document in which they end as a result.
func readRecording(raw []byte) ([]v1.Event, error) {
	var events []v1.Event
	for line := range bytes.Lines(raw) {
		var e v1.Event
		if err := json.Unmarshal(line, &e.TypeMeta); err != nil {
			return nil, err
		}
		if e.Kind == v1.KindEvent {
			if err := json.Unmarshal(line, &e); err != nil {
				return nil, err
			}
			events = append(events, e)
			continue
		}
		result, err := readResult(e.Kind, line)
		if err != nil || len(events) == 0 {
			return nil, fmt.Errorf("no recording: %w", err)
		}
		return append(events, v1.Event{At: events[len(events)-1].At, Result: &result}), nil
	}
	return nil, errors.New("a recording without an end")
}

func readResult(kind string, line []byte) (r v1.Result, err error) {
	switch kind {
	case v1.KindWorkspace:
		err = json.Unmarshal(line, &r.Workspace)
	case v1.KindError:
		err = json.Unmarshal(line, &r.Error)
	case v1.KindProvisionSummary:
		err = json.Unmarshal(line, &r.Summary)
	case v1.KindDeletionSummary:
		err = json.Unmarshal(line, &r.Deletions)
	default:
		err = fmt.Errorf("it ends with a %q", kind)
	}
	return r, err
}

func titleOf(r v1.Result) wording.Title {
	w := r.Workspace
	if r.Error != nil {
		w = r.Error.Workspace
	}
	return wording.Title{UserString: w.UserString, ID: w.ID, Namespace: w.Namespace, Verb: "provision"}
}

// batchOf is the batch that a recording was made of.
func batchOf(s v1.ProvisionSummary) wording.Batch {
	b := wording.Batch{Namespace: "team", Parallel: 4}
	for _, item := range s.Items {
		b.Members = append(b.Members, wording.Title{UserString: item.UserString, ID: item.ID, Namespace: b.Namespace, Verb: "provision"})
	}
	return b
}
