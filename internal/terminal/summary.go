package terminal

import (
	"slices"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
)

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
	if w.Timing == nil {
		return []string{"  " + sign + paint(v.st.bold, "Running") + since(w, v.now)}
	}
	var parts []string
	for _, s := range stageSums(*w.Timing) {
		parts = append(parts, strings.ToLower(s.Name)+" "+tenths(seconds(s.Seconds)))
	}
	return headline(sign+paint(v.st.bold, "Running")+" in "+brief(m.took()), paint(v.st.grey, strings.Join(parts, v.st.dot)), v)
}

// since is when a workspace that nothing was done to began to run.
func since(w v1.Workspace, now time.Time) string {
	if w.Since.IsZero() {
		return ""
	}
	return " since " + age(w.Since, now)
}

// stageSums are the stages in the order of their first appearance, each with
// all the time that was spent in it: stages may come back.
func stageSums(t v1.Timing) []v1.StepTiming {
	var sums []v1.StepTiming
	for _, s := range t.Stages {
		i := slices.IndexFunc(sums, func(o v1.StepTiming) bool { return o.Name == s.Name })
		if i < 0 {
			sums = append(sums, s)
		} else {
			sums[i].Seconds += s.Seconds
		}
	}
	return sums
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
	word, style, mark := endWord(e, v.st)
	what := gist(e)
	head := paint(style, mark+" "+word) + " after " + brief(m.took())
	lines := headline(head, v.st.text(what), v)
	lines = append(lines, explanation(e, what, v)...)
	if e.Left == v1.LeftDeleted {
		lines = append(lines, "")
		lines = append(lines, indent([]string{paint(v.st.grey, "removed what was created")}, v)...)
	}
	return append(lines, logLines(e.Logs, v)...)
}

// endWord is how an error is called in a word, and its colour and sign.
func endWord(e v1.Error, st styles) (word string, style lipgloss.Style, mark string) {
	switch {
	case isInterrupt(e):
		return "Interrupted", st.yellow, st.stopped
	case fault.Code(e.Code) == fault.DeadlineExceeded:
		return "Timed out", st.red, st.failed
	}
	return "Failed", st.red, st.failed
}
