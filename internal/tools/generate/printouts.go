package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal/result"
	"github.com/berthdev/berth/internal/terminal/style"
)

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
