package live

import (
	"strings"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/wording"
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
			m.abandon(v.Now)
		}
		v.Styles.Spinner = []string{v.Styles.Stopped} // nothing turns any more
	}
	lines = style.Fit(append(lines, c.table(c.rows, v)...), v.Width)
	switch {
	case c.result == nil:
		return lines
	case c.result.Error != nil:
		return append(append(lines, ""), wording.ErrorLines(*c.result.Error, v.Styles)...)
	}
	if e, ok := c.batch.Endings(*c.result); ok {
		lines = append(append(lines, ""), c.summary(e, v)...)
	}
	return lines
}

func (c *crowd) summary(s wording.Endings, v view) []string {
	tally := c.batch.Tally(s)
	mark := style.Paint(v.Styles.Green, v.Styles.Done)
	switch {
	case tally.Interrupted > 0:
		mark = style.Paint(v.Styles.Yellow, v.Styles.Stopped)
	case s.Failed > 0:
		mark = style.Paint(v.Styles.Red, v.Styles.Failed)
	}
	head, rest := tally.Headline(style.Brief(style.Seconds(s.Seconds)))
	lines := wording.Headline(mark+" "+style.Paint(v.Styles.Bold, head), style.Paint(v.Styles.Grey, rest), v.Page)
	for _, f := range s.Failures() {
		lines = append(lines, "")
		lines = append(lines, wording.Indent(namesOf(f, v), v.Page)...)
		lines = append(lines, wording.Indent(v.Styles.Paragraphs(f.Cause), v.Page)...)
		for _, problem := range f.Err.Problems {
			lines = append(lines, wording.Indent([]string{"- " + v.Styles.Text(problem)}, v.Page)...)
		}
		lines = append(lines, wording.Indent(v.Styles.Paragraphs(f.Err.Hint), v.Page)...)
		lines = append(lines, lastWords(f.Err.Logs, v)...)
		lines = append(lines, wording.Indent(leftText(f, v), v.Page)...)
		for _, next := range f.Next {
			lines = append(lines, "    "+v.Styles.Text(next.Line))
		}
	}
	return append(lines, wording.CommandLines(c.batch.Next(tally), v.Page)...)
}

// namesOf are those that failed alike.
func namesOf(f wording.FailureGroup, v view) []string {
	names := make([]string, 0, len(f.Titles))
	for _, t := range f.Titles {
		names = append(names, style.Paint(v.Styles.Bold, v.Styles.Text(t.Target())))
	}
	return []string{strings.Join(names, ", ")}
}

// leftText says what became of what was created.
func leftText(f wording.FailureGroup, v view) []string {
	switch f.Err.Left {
	case v1.LeftKept:
		commands := make([]string, 0, len(f.Titles))
		for _, t := range f.Titles {
			commands = append(commands, v.Styles.Text("kept: "+t.Command("delete")))
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
	if lines := wording.LogLines(&few, v.Page); len(lines) > 1 {
		return lines[1:] // without the blank one
	}
	return nil
}
