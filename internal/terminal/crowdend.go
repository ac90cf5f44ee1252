package terminal

import (
	"fmt"
	"strings"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
)

// ending is the whole table and what came of it. Unlike what is live it may be
// longer than the terminal is high: nothing is lost.
func (c *crowd) ending(v view) []string {
	if c.blank() && c.result == nil {
		return nil
	}
	var lines []string
	if !v.headed {
		lines = append(lines, c.header(v), "")
	}
	if c.result == nil {
		for _, m := range c.rows {
			m.abandon(v.now)
		}
		v.st.spinner = []string{v.st.stopped} // nothing turns any more
	}
	lines = fit(append(lines, c.table(c.rows, v)...), v.width)
	switch {
	case c.result == nil:
		return lines
	case c.result.Error != nil:
		return append(append(lines, ""), errorLines(*c.result.Error, v.st)...)
	}
	if e, ok := c.batch.endings(*c.result); ok {
		lines = append(append(lines, ""), c.summary(e, v)...)
	}
	return lines
}

func (c *crowd) summary(s endings, v view) []string {
	tally := c.tally(s)
	mark := paint(v.st.green, v.st.done)
	switch {
	case tally.interrupted > 0:
		mark = paint(v.st.yellow, v.st.stopped)
	case s.failed > 0:
		mark = paint(v.st.red, v.st.failed)
	}
	head, rest := tally.headline(brief(seconds(s.seconds)))
	lines := headline(mark+" "+paint(v.st.bold, head), paint(v.st.grey, rest), v)
	for _, f := range c.failures(s) {
		lines = append(lines, "")
		lines = append(lines, indent(f.names(v), v)...)
		lines = append(lines, indent(v.st.paragraphs(f.cause), v)...)
		for _, problem := range f.err.Problems {
			lines = append(lines, indent([]string{"- " + v.st.text(problem)}, v)...)
		}
		lines = append(lines, indent(v.st.paragraphs(f.err.Hint), v)...)
		lines = append(lines, lastWords(f.err.Logs, v)...)
		lines = append(lines, indent(leftText(f, v), v)...)
		for _, next := range f.next {
			lines = append(lines, "    "+v.st.text(next.line))
		}
	}
	return append(lines, commandLines(c.next(tally), v)...)
}

// names are those that failed alike.
func (f failureGroup) names(v view) []string {
	names := make([]string, 0, len(f.titles))
	for _, t := range f.titles {
		names = append(names, paint(v.st.bold, v.st.text(t.target())))
	}
	return []string{strings.Join(names, ", ")}
}

// leftText says what became of what was created.
func leftText(f failureGroup, v view) []string {
	switch f.err.Left {
	case v1.LeftKept:
		commands := make([]string, 0, len(f.titles))
		for _, t := range f.titles {
			commands = append(commands, v.st.text("kept: "+t.command("delete")))
		}
		return commands
	case v1.LeftDeleted:
		return []string{"removed what was created"}
	}
	return nil
}

// mostWords is how many of the last words of each container are repeated: it is
// the end that tells, and `berth diagnose` has the rest.
const mostWords = 3

func lastWords(t *v1.LogTail, v view) []string {
	if t == nil {
		return nil
	}
	few := *t
	few.Lines = few.Lines[max(len(few.Lines)-mostWords, 0):]
	if lines := logLines(&few, v); len(lines) > 1 {
		return lines[1:] // without the blank one
	}
	return nil
}

// next is what one would type after all.
func (c *crowd) next(t tally) []command {
	again := command{line: c.batch.Again}
	switch {
	case t.interrupted > 0:
		again.why = "follow again"
		if c.batch.deletes() {
			again.why = "go on"
		}
	case t.late > 0:
		again.why = "wait again"
	case t.failed > 0:
		again.why = "try again what is not " + t.word
	case c.batch.deletes():
		return nil
	default:
		return []command{{strings.Join(append([]string{"berth", "status"}, c.batch.Flags...), " "), "everything that there is"}}
	}
	if again.line == "" {
		return nil
	}
	return []command{again}
}

// tally counts how workspaces ended. One that came too late has failed, too.
type tally struct {
	all, done, failed, late, interrupted int
	word                                 string // for those that are done
}

func (c *crowd) tally(s endings) tally {
	t := tally{word: c.batch.done()}
	for _, item := range s.items {
		t.all++
		switch {
		case item.err == nil:
			t.done++
		case isInterrupt(*item.err):
			t.interrupted++
		case fault.Code(item.err.Code) == fault.DeadlineExceeded:
			t.late++
			t.failed++
		default:
			t.failed++
		}
	}
	return t
}

// headline says how it ended, in two halves.
func (t tally) headline(took string) (head, rest string) {
	var parts []string
	switch {
	case t.interrupted > 0:
		head = "Interrupted after " + took
		parts = append(parts, fmt.Sprintf("%d of %d %s", t.done, t.all, t.word), fmt.Sprintf("%d no longer followed", t.interrupted))
	case t.failed == 0:
		return fmt.Sprintf("%d %s in %s", t.done, t.word, took), ""
	default:
		head = fmt.Sprintf("%d of %d %s after %s", t.done, t.all, t.word, took)
	}
	if n := t.failed - t.late; n > 0 {
		parts = append(parts, fmt.Sprintf("%d failed", n))
	}
	if t.late > 0 {
		parts = append(parts, fmt.Sprintf("%d timed out", t.late))
	}
	return head, strings.Join(parts, ", ")
}
