package terminal

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
)

// headlineWidth is where the second half of a headline begins, if there is room.
const headlineWidth = 24

// summary is the end of the story. Unlike what is live it may take several
// lines: nothing of it is cut.
func summary(m *model, v view) []string {
	r := *m.result
	var lines []string
	switch {
	case r.Error != nil && isOutcome(*r.Error):
		lines = failure(m, *r.Error, v)
	case r.Error != nil:
		lines = errorLines(*r.Error, v.st)
		if len(m.items) > 0 && v.headed {
			lines = append([]string{""}, lines...)
		}
	case r.Deletion != nil:
		lines = deletion(*r.Deletion, m, v)
	case r.Workspace != nil:
		lines = success(*r.Workspace, m, v)
	}
	return append(lines, commandLines(next(m.title, r), v)...)
}

func success(w v1.Workspace, m *model, v view) []string {
	sign := paint(v.st.green, v.st.done) + " "
	if w.Stage != v1.StageRunning {
		// A command that does not wait, or one that waited for another stage.
		return headline(sign+paint(v.st.bold, string(w.Stage))+" after "+brief(m.took()), v.st.text(causeOrMessage(w.Snapshot)), v)
	}
	var parts []string
	if w.Timing != nil {
		for _, s := range w.Timing.Stages {
			parts = append(parts, strings.ToLower(s.Name)+" "+tenths(seconds(s.Seconds)))
		}
	}
	return headline(sign+paint(v.st.bold, "Running")+" in "+brief(m.took()), paint(v.st.grey, strings.Join(parts, v.st.dot)), v)
}

func deletion(d v1.Deletion, m *model, v view) []string {
	text := plural(d.Objects, "object")
	if !d.Gone {
		text += v.st.dot + "the pod may still be ending"
	}
	head := paint(v.st.green, v.st.done) + " " + paint(v.st.bold, "Deleted") + " " + v.st.text(d.ID) + " in " + brief(m.took())
	return headline(head, paint(v.st.grey, text), v)
}

// failure tells how it ended, what that means, and what the container said last.
func failure(m *model, e v1.Error, v view) []string {
	word, style, mark := "Failed", v.st.red, v.st.failed
	switch {
	case isInterrupt(e):
		word, style, mark = "Interrupted", v.st.yellow, v.st.stopped
	case fault.Code(e.Code) == fault.DeadlineExceeded:
		word = "Timed out"
	}
	what := gist(e)
	head := paint(style, mark+" "+word) + " after " + brief(m.took())
	lines := headline(head, v.st.text(what), v)
	lines = append(lines, explanation(e, what, v)...)
	return append(lines, logLines(e.Logs, v)...)
}

// gist is an outcome in half a line. The message of the error names the
// workspace, which stands in the first line already.
func gist(e v1.Error) string {
	if e.Workspace == nil {
		return e.Message
	}
	s := e.Workspace.Snapshot
	if fault.Code(e.Code) == fault.Failed {
		if s.Cause != nil && s.Cause.Message != "" {
			return causeText(*s.Cause)
		}
		return e.Message
	}
	if s.Stage == "" {
		return e.Message
	}
	if why := causeOrMessage(s); why != "" {
		return "still " + string(s.Stage) + ": " + why
	}
	return "still " + string(s.Stage)
}

func causeOrMessage(s v1.Snapshot) string {
	if s.Cause != nil && s.Cause.Message != "" {
		return causeText(*s.Cause)
	}
	return s.Message
}

// explanation is what the headline leaves out: the message if it says more, the
// single problems, the hint.
func explanation(e v1.Error, what string, v view) []string {
	var blocks [][]string
	for _, text := range beyond(e, what) {
		blocks = append(blocks, v.st.paragraphs(text))
	}
	var problems []string
	for _, p := range e.Problems {
		problems = append(problems, "- "+v.st.text(p))
	}
	blocks = append(blocks, problems, v.st.paragraphs(e.Hint))
	var lines []string
	for _, b := range blocks {
		if len(b) > 0 {
			lines = append(lines, "")
			lines = append(lines, indent(b, 4, v)...)
		}
	}
	return lines
}

// beyond is the message if it says more than the gist of it.
func beyond(e v1.Error, what string) []string {
	cause := ""
	if e.Workspace != nil && e.Workspace.Cause != nil {
		cause = e.Workspace.Cause.Message
	}
	if e.Message == what || contains(e.Message, strings.TrimPrefix(what, "still ")) || contains(e.Message, cause) {
		return nil
	}
	return []string{e.Message}
}

// headline puts two halves on one line, or below each other if they do not fit.
func headline(head, rest string, v view) []string {
	line := "  " + head
	if rest == "" {
		return []string{line}
	}
	if joined := pad(line, 2+headlineWidth) + "  " + rest; width(joined) < v.width {
		return []string{joined}
	}
	return append([]string{line}, indent([]string{rest}, 4, v)...)
}

// indent wraps texts into the room that is left of the terminal.
func indent(texts []string, by int, v view) []string {
	var lines []string
	for _, t := range texts {
		for _, l := range wrap(t, max(v.width-1-by, 20)) {
			lines = append(lines, strings.TrimRight(strings.Repeat(" ", by)+l, " "))
		}
	}
	return lines
}

// logLines are a container's last words, each behind a bar.
func logLines(t *v1.LogTail, v view) []string {
	if t == nil || len(t.Lines) == 0 {
		return nil
	}
	label := "its last words"
	if t.Container != "" {
		label = v.st.text(t.Container) + "'s last words"
	}
	if t.Previous {
		label += " (previous instance)"
	}
	lines := append([]string{""}, indent([]string{label + ":"}, 4, v)...)
	for _, text := range t.Lines {
		for l := range strings.SplitSeq(ansi.Hardwrap(v.st.text(text), max(v.width-1-6, 20), true), "\n") {
			lines = append(lines, strings.TrimRight("    "+paint(v.st.grey, v.st.bar)+" "+l, " "))
		}
	}
	return lines
}

// commandLines are the commands to type next, whole, so that they can be copied.
func commandLines(cs []command, v view) []string {
	if len(cs) == 0 {
		return nil
	}
	widest := 0
	for _, c := range cs {
		widest = max(widest, width(c.line))
	}
	lines := []string{""}
	for _, c := range cs {
		line := "    " + pad(c.line, widest) + "    "
		if width(line)+width(c.why) >= v.width {
			c.why = ""
		}
		lines = append(lines, strings.TrimRight(line+paint(v.st.grey, c.why), " "))
	}
	return lines
}
