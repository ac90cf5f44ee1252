package live

import (
	"strings"

	"charm.land/lipgloss/v2"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// summary is the end of the story. Unlike what is live it may take several
// lines: nothing of it is cut.
func summary(m *model, v view) []string {
	r := *m.result
	var lines []string
	switch {
	case r.Error != nil && wording.IsOutcome(*r.Error):
		lines = failure(m, *r.Error, v)
	case r.Error != nil:
		lines = wording.ErrorLines(*r.Error, v.Styles)
		if len(m.items) > 0 && v.headed {
			lines = append([]string{""}, lines...)
		}
	case r.Deletion != nil:
		lines = deletion(*r.Deletion, m, v)
	case r.Workspace != nil:
		lines = success(*r.Workspace, m, v)
	}
	return append(lines, wording.CommandLines(wording.Next(m.title, r), v.Page)...)
}

func success(w v1.Workspace, m *model, v view) []string {
	sign := style.Paint(v.Styles.Green, v.Styles.Done) + " "
	if w.Stage != v1.StageRunning {
		// A command that does not wait, or one that waited for another stage.
		return wording.Headline(sign+style.Paint(v.Styles.Bold, string(w.Stage))+" after "+style.Brief(m.took()), v.Styles.Text(wording.CauseOrMessage(w.Snapshot)), v.Page)
	}
	if w.Timing == nil {
		return []string{"  " + sign + style.Paint(v.Styles.Bold, "Running") + wording.Since(w, v.Now)}
	}
	var parts []string
	for _, s := range wording.StageSums(*w.Timing) {
		parts = append(parts, strings.ToLower(s.Name)+" "+style.Tenths(style.Seconds(s.Seconds)))
	}
	return wording.Headline(sign+style.Paint(v.Styles.Bold, "Running")+" in "+style.Brief(m.took()), style.Paint(v.Styles.Grey, strings.Join(parts, v.Styles.Dot)), v.Page)
}

func deletion(d v1.Deletion, m *model, v view) []string {
	text := style.Plural(d.Objects, "object")
	if !d.Gone {
		text += v.Styles.Dot + "the pod may still be ending"
	}
	head := style.Paint(v.Styles.Green, v.Styles.Done) + " " + style.Paint(v.Styles.Bold, "Deleted") + " " + v.Styles.Text(d.ID) + " in " + style.Brief(m.took())
	return wording.Headline(head, style.Paint(v.Styles.Grey, text), v.Page)
}

// failure tells how it ended, what that means, and what the container said last.
func failure(m *model, e v1.Error, v view) []string {
	word, colour, mark := endWord(e, v.Styles)
	what := wording.Gist(e)
	head := style.Paint(colour, mark+" "+word) + " after " + style.Brief(m.took())
	lines := wording.Headline(head, v.Styles.Text(what), v.Page)
	lines = append(lines, explanation(e, what, v)...)
	if e.Left == v1.LeftDeleted {
		lines = append(lines, "")
		lines = append(lines, wording.Indent([]string{style.Paint(v.Styles.Grey, "removed what was created")}, v.Page)...)
	}
	return append(lines, wording.LogLines(e.Logs, v.Page)...)
}

// endWord is how an error is called in a word, and its colour and sign.
func endWord(e v1.Error, st style.Styles) (word string, colour lipgloss.Style, mark string) {
	switch {
	case wording.IsInterrupt(e):
		return "Interrupted", st.Yellow, st.Stopped
	case fault.Code(e.Code) == fault.DeadlineExceeded:
		return "Timed out", st.Red, st.Failed
	}
	return "Failed", st.Red, st.Failed
}

// explanation is what the headline leaves out: the message if it says more, the
// single problems, the hint.
func explanation(e v1.Error, what string, v view) []string {
	var blocks [][]string
	for _, text := range wording.Beyond(e, what) {
		blocks = append(blocks, v.Styles.Paragraphs(text))
	}
	var problems []string
	for _, p := range e.Problems {
		problems = append(problems, "- "+v.Styles.Text(p))
	}
	blocks = append(blocks, problems, v.Styles.Paragraphs(e.Hint))
	var lines []string
	for _, b := range blocks {
		if len(b) > 0 {
			lines = append(lines, "")
			lines = append(lines, wording.Indent(b, v.Page)...)
		}
	}
	return lines
}
