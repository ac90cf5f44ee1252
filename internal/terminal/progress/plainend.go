package progress

import (
	"fmt"
	"strings"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// resultLines are the summary as dated lines. An error that is no outcome of
// provisioning is printed as any other error.
func (p *plain) resultLines(e v1.Event) []string {
	r := *e.Result
	var lines []string
	switch {
	case r.Error != nil && !wording.IsOutcome(*r.Error):
		return wording.ErrorLines(*r.Error, p.st)
	case r.Error != nil:
		lines = p.failureLines(e, *r.Error)
	case r.Deletion != nil:
		lines = p.deletionLines(e, *r.Deletion)
	case r.Workspace != nil:
		lines = p.successLines(e, *r.Workspace)
	}
	for _, c := range wording.Next(p.title, r) {
		lines = append(lines, p.line(e, "next", c.Line))
	}
	return lines
}

func (p *plain) deletionLines(e v1.Event, d v1.Deletion) []string {
	if d.NotFound {
		return []string{p.line(e, "deleted", wording.DeletionText(d))}
	}
	text := fmt.Sprintf("%s in %s", style.Plural(d.Objects, "object"), p.took(e))
	if !d.Gone {
		text += ", the pod may still be ending"
	}
	return []string{p.line(e, "deleted", text)}
}

func (p *plain) successLines(e v1.Event, w v1.Workspace) []string {
	if w.Stage != v1.StageRunning {
		return []string{p.line(e, "stage "+string(w.Stage), wording.CauseOrMessage(w.Snapshot))}
	}
	if w.Timing == nil {
		return []string{p.line(e, "stage Running", strings.TrimSpace(wording.Since(w, e.At)))}
	}
	lines := []string{p.line(e, "stage Running", "ready in "+p.took(e))}
	if len(w.Timing.Stages) == 0 {
		return lines
	}
	var parts []string
	for _, s := range wording.StageSums(*w.Timing) {
		parts = append(parts, strings.ToLower(s.Name)+" "+style.Brief(style.Seconds(s.Seconds)))
	}
	return append(lines, p.line(e, "timing", strings.Join(parts, ", ")))
}

func (p *plain) failureLines(e v1.Event, err v1.Error) []string {
	kind := "failed"
	switch {
	case wording.IsInterrupt(err):
		kind = "interrupted"
	case fault.Code(err.Code) == fault.DeadlineExceeded:
		kind = "timed out"
	}
	took := p.took(e)
	what := wording.Gist(err)
	text := strings.TrimSuffix(fmt.Sprintf("%s after %s: %s", kind, took, strings.Join(strings.Fields(what), " ")), ": ")
	lines := []string{p.line(e, "error "+err.Code, text)}
	for _, text := range wording.Beyond(err, what) {
		lines = append(lines, p.line(e, "error "+err.Code, text))
	}
	for _, text := range err.Problems {
		lines = append(lines, p.line(e, "problem", text))
	}
	for _, text := range p.st.Paragraphs(err.Hint) {
		lines = append(lines, p.line(e, "hint", text))
	}
	switch err.Left {
	case v1.LeftKept:
		lines = append(lines, p.line(e, "kept", p.title.Command("delete")+" removes what was created"))
	case v1.LeftDeleted:
		lines = append(lines, p.line(e, "removed", "what was created"))
	}
	if err.Logs != nil {
		kind := "log " + err.Logs.Container
		if err.Logs.Previous {
			kind += " (previous)"
		}
		for _, text := range err.Logs.Lines {
			lines = append(lines, p.line(e, kind, text))
		}
	}
	return lines
}
