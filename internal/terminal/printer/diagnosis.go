package printer

import (
	"fmt"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// diagnosisLines is a diagnosis for people: what it is, what to do about it,
// what stands behind that, and what to type next.
func diagnosisLines(d v1.Diagnosis, s terminal.Streams, st style.Styles) []string {
	out := s.Out
	v := sheet(out, d.At, st)
	lines := []string{wording.Header(diagnosed(d), v), ""}
	lines = append(lines, verdictLines(d, v)...)
	if hint := st.Paragraphs(d.Hint); len(hint) > 0 && wording.Lasting(d.Cause) == d.Cause {
		lines = append(lines, "")
		lines = append(lines, wording.Indent(hint, v)...)
	}
	lines = append(lines, wording.LogLines(d.Logs, v)...)
	if len(d.Containers) > 0 {
		lines = append(lines, "")
		lines = append(lines, indented(containerTable(d.Containers, false, narrower(out, 4), st))...)
	}
	lines = append(lines, timelineLines(d, v)...)
	if len(d.Warnings) > 0 {
		lines = append(lines, "")
		for _, warning := range d.Warnings {
			lines = append(lines, wording.WarningLine(warning, v, true))
		}
	}
	for _, unread := range d.Unread {
		lines = append(lines, "")
		lines = append(lines, wording.Indent([]string{v.Styles.Warning + " made without what you may not read: " + v.Styles.Text(unread)}, v)...)
	}
	return append(lines, wording.CommandLines(wording.Treatment(d, s.Flags), v)...)
}

// diagnosed is what the first line names.
func diagnosed(d v1.Diagnosis) wording.Title {
	if d.UserString != "" {
		return wording.Title{UserString: d.UserString, ID: strings.TrimPrefix(d.Subject, "pod/"), Namespace: d.Namespace}
	}
	return wording.Title{ID: d.Subject, Namespace: d.Namespace}
}

// verdictLines say how it stands, since when and why.
func verdictLines(d v1.Diagnosis, v wording.Page) []string {
	colour, mark := verdictSign(d.Verdict, v.Styles)
	head := style.Paint(colour, mark+" "+stageName(d))
	if !d.Since.IsZero() && d.Verdict != v1.VerdictGone {
		head += " for " + style.Whole(d.At.Sub(d.Since))
	}
	why := d.Message
	cause := wording.Lasting(d.Cause)
	if cause != nil {
		why = wording.CauseText(*cause)
	}
	return wording.Headline(head, v.Styles.Text(why+numbers(cause)+wording.IgnoredText(d.Ignored)), v)
}

// stageName is the stage, which does not tell what became of what is gone.
func stageName(d v1.Diagnosis) string {
	if d.Verdict == v1.VerdictGone {
		return "Gone"
	}
	return string(d.Stage)
}

func verdictSign(verdict v1.Verdict, st style.Styles) (lipgloss.Style, string) {
	switch verdict {
	case v1.VerdictRunning:
		return st.Green, st.Done
	case v1.VerdictFailed:
		return st.Red, st.Failed
	case v1.VerdictWaiting:
		return st.Yellow, st.Warning
	default:
		return st.Grey, st.Stopped
	}
}

// numbers are those of a cause that its message does not tell.
func numbers(c *v1.Cause) string {
	if c == nil {
		return ""
	}
	text := ""
	if c.ExitCode != nil && !strings.Contains(c.Message, "exit code") {
		text += fmt.Sprintf(", exit code %d", *c.ExitCode)
	}
	if c.Restarts != nil && !strings.Contains(c.Message, "restart") {
		text += ", " + style.Plural(*c.Restarts, "restart")
	}
	return text
}

// timelineLines are the changes of stage, if there was more than one.
func timelineLines(d v1.Diagnosis, v wording.Page) []string {
	if len(d.Timeline) < 2 {
		return nil
	}
	lines := []string{""}
	for _, m := range d.Timeline {
		offset := "+" + style.Brief(style.Seconds(m.Offset))
		line := "    " + m.At.UTC().Format(time.TimeOnly) + "  " + style.Pad(offset, 8) + "  "
		room := max(v.Width-1-style.Width(line)-14, 0)
		message := v.Styles.Cut(v.Styles.Text(m.Message), room)
		if room < 12 {
			message = "" // the beginning of a word tells nothing
		}
		lines = append(lines, strings.TrimRight(style.Paint(v.Styles.Grey, line)+style.Paint(v.Styles.Stage(m.Stage), style.Pad(string(m.Stage), 12))+"  "+message, " "))
	}
	return lines
}

// indented moves lines that are as wide as they may be already.
func indented(lines []string) []string {
	for i, line := range lines {
		lines[i] = strings.TrimRight("    "+line, " ")
	}
	return lines
}

// narrower is an output with less room.
func narrower(out terminal.Output, by int) terminal.Output {
	size := out.Size
	out.Size = func() (int, int) {
		width, height := size()
		return max(width-by, 1), height
	}
	return out
}
