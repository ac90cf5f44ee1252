package main

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/live"
	"github.com/berthdev/berth/internal/terminal/result"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// recordings are what `berth provision --output jsonl` said on the test cluster. The pictures show what the live view
// of today makes of it.
//
//go:embed recordings
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
		{"stuck", "stuck", "berth provision alice~fast", 88, 70 * time.Second},
		{"batch", "batch", "berth provision -f team.txt", 88, 12500 * time.Millisecond},
	}
}

// pictures makes the pictures of the README and of other pages.
func pictures(all files) error {
	for _, s := range stills() {
		content, err := s.draw()
		if err != nil {
			return fmt.Errorf("picture %s: %w", s.name, err)
		}
		all["docs/pictures/"+s.name+".svg"] = content
	}
	for _, p := range printouts() {
		content, err := p.draw()
		if err != nil {
			return fmt.Errorf("picture %s: %w", p.name, err)
		}
		all["docs/pictures/"+p.name+".svg"] = content
	}
	for _, s := range sessions() {
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
	view := live.Still{Look: screen(), Width: s.columns, At: last.At}
	if s.after > 0 {
		view.At = events[0].At.Add(s.after)
	}
	lines := append([]string{"$ " + s.command}, view.Of(batchOf(*last.Result), events)...)
	return picture(s.command, lines, s.columns)
}

// screen is the terminal of the pictures.
func screen() terminal.Capabilities {
	return terminal.Capabilities{TTY: true, Live: true, Unicode: true, Profile: style.Colour16}
}

// readRecording reads events, and the document in which they end as a result.
func readRecording(raw []byte) ([]v1.Event, error) {
	var events []v1.Event
	for line := range bytes.Lines(raw) {
		var e v1.Event
		if err := json.Unmarshal(line, &e.TypeMeta); err != nil {
			return nil, err
		}
		if e.Kind == "Event" {
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
	case "Workspace":
		err = json.Unmarshal(line, &r.Workspace)
	case "Error":
		err = json.Unmarshal(line, &r.Error)
	case "ProvisionSummary":
		err = json.Unmarshal(line, &r.Summary)
	case "DeletionSummary":
		err = json.Unmarshal(line, &r.Deletions)
	default:
		err = fmt.Errorf("it ends with a %q", kind)
	}
	return r, err
}

// batchOf is the batch that a recording was made of.
func batchOf(r v1.Result) wording.Batch {
	title := func(userString, id, namespace string) wording.Title {
		return wording.Title{UserString: userString, ID: id, Namespace: namespace, Verb: "provision"}
	}
	if r.Summary == nil {
		w := r.Workspace
		if r.Error != nil {
			w = r.Error.Workspace
		}
		return wording.Batch{Single: true, Members: []wording.Title{title(w.UserString, w.ID, w.Namespace)}}
	}
	b := wording.Batch{Namespace: "team", Parallel: 4}
	for _, item := range r.Summary.Items {
		b.Members = append(b.Members, title(item.UserString, item.ID, b.Namespace))
	}
	return b
}

// printout is a picture of a document as a command prints it at a terminal.
type printout struct {
	name, command string
	columns       int
	read          func() (doc result.Kind, now time.Time, err error)
}

func printouts() []printout {
	return []printout{
		{"status", "berth status", 120, status},
		{"history", "berth status alice~dev --history", 88, history},
		{"stats", "berth jobs stats --since 5m --by blueprint", 88, stats},
	}
}

func (p printout) draw() ([]byte, error) {
	doc, now, err := p.read()
	if err != nil {
		return nil, err
	}
	lines, err := doc.Text(style.Page{Styles: screen().Styles(), Width: p.columns, Room: p.columns - 1, Now: now})
	if err != nil {
		return nil, err
	}
	return picture(p.command, append([]string{"$ " + p.command}, lines...), p.columns)
}

// status is what `berth status --output json` said there.
func status() (result.Kind, time.Time, error) {
	var list v1.WorkspaceList
	if err := readDocument(recordings, "recordings/status.json", &list); err != nil {
		return nil, time.Time{}, err
	}
	var now time.Time
	for _, w := range list.Items {
		if w.CreatedAt.After(now) {
			now = w.CreatedAt
		}
	}
	return result.Workspaces{WorkspaceList: list}, now.Add(time.Minute), nil
}

// history is what `berth status alice~dev --history --output json` said on the test cluster.
func history() (result.Kind, time.Time, error) {
	var list v1.JobList
	if err := readDocument(recordings, "recordings/history.json", &list); err != nil {
		return nil, time.Time{}, err
	}
	if len(list.Items) == 0 {
		return nil, time.Time{}, errors.New("a history without a job")
	}
	return result.Jobs{JobList: list, Full: true}, list.Items[0].UpdatedAt.Add(time.Minute), nil
}

// stats is the example of such a document.
func stats() (result.Kind, time.Time, error) {
	var doc v1.JobStats
	err := readDocument(examples, "examples/JobStats.json", &doc)
	return result.JobStats{JobStats: doc}, doc.OldestAt, err
}

func readDocument(from fs.FS, name string, doc any) error {
	text, err := fs.ReadFile(from, name)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, doc)
}
