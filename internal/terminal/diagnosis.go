package terminal

import (
	"fmt"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	v1 "github.com/berthdev/berth/api/v1"
)

// diagnosisLines is a diagnosis for people: what it is, what to do about it,
// what stands behind that, and what to type next.
func diagnosisLines(d v1.Diagnosis, s Streams, st Styles) []string {
	out := s.Out
	v := sheet(out, d.At, st)
	lines := []string{Header(diagnosed(d), v), ""}
	lines = append(lines, verdictLines(d, v)...)
	if len(st.Paragraphs(d.Hint)) > 0 {
		lines = append(lines, "")
		lines = append(lines, Indent(st.Paragraphs(d.Hint), v)...)
	}
	lines = append(lines, LogLines(d.Logs, v)...)
	if len(d.Containers) > 0 {
		lines = append(lines, "")
		lines = append(lines, indented(containerTable(d.Containers, false, narrower(out, 4), st))...)
	}
	lines = append(lines, timelineLines(d, v)...)
	if len(d.Warnings) > 0 {
		lines = append(lines, "")
		for _, warning := range d.Warnings {
			lines = append(lines, WarningLine(warning, v, true))
		}
	}
	for _, unread := range d.Unread {
		lines = append(lines, "")
		lines = append(lines, Indent([]string{v.Styles.Warning + " made without what you may not read: " + v.Styles.Text(unread)}, v)...)
	}
	return append(lines, CommandLines(treatment(d, s.Flags), v)...)
}

// diagnosed is what the first line names.
func diagnosed(d v1.Diagnosis) Title {
	if d.UserString != "" {
		return Title{UserString: d.UserString, ID: strings.TrimPrefix(d.Subject, "pod/"), Namespace: d.Namespace}
	}
	return Title{ID: d.Subject, Namespace: d.Namespace}
}

// verdictLines say how it stands, since when and why.
func verdictLines(d v1.Diagnosis, v Page) []string {
	style, mark := verdictSign(d.Verdict, v.Styles)
	head := Paint(style, mark+" "+stageName(d))
	if !d.Since.IsZero() && d.Verdict != v1.VerdictGone {
		head += " for " + Whole(d.At.Sub(d.Since))
	}
	why := d.Message
	if d.Cause != nil {
		why = CauseText(*d.Cause)
	}
	return Headline(head, v.Styles.Text(why+numbers(d.Cause)+IgnoredText(d.Ignored)), v)
}

// stageName is the stage, which does not tell what became of what is gone.
func stageName(d v1.Diagnosis) string {
	if d.Verdict == v1.VerdictGone {
		return "Gone"
	}
	return string(d.Stage)
}

func verdictSign(verdict v1.Verdict, st Styles) (lipgloss.Style, string) {
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
		text += ", " + Plural(*c.Restarts, "restart")
	}
	return text
}

// timelineLines are the changes of stage, if there was more than one.
func timelineLines(d v1.Diagnosis, v Page) []string {
	if len(d.Timeline) < 2 {
		return nil
	}
	lines := []string{""}
	for _, m := range d.Timeline {
		offset := "+" + Brief(Seconds(m.Offset))
		line := "    " + m.At.UTC().Format(time.TimeOnly) + "  " + Pad(offset, 8) + "  "
		room := max(v.Width-1-Width(line)-14, 0)
		message := v.Styles.Cut(v.Styles.Text(m.Message), room)
		if room < 12 {
			message = "" // the beginning of a word tells nothing
		}
		lines = append(lines, strings.TrimRight(Paint(v.Styles.Grey, line)+Paint(v.Styles.Stage(m.Stage), Pad(string(m.Stage), 12))+"  "+message, " "))
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
func narrower(out Output, by int) Output {
	size := out.Size
	out.Size = func() (int, int) {
		width, height := size()
		return max(width-by, 1), height
	}
	return out
}

// treatment is what to type next: for a workspace berth's own commands, for
// anything else kubectl's.
func treatment(d v1.Diagnosis, flags []string) []Command {
	name := d.Subject[strings.Index(d.Subject, "/")+1:]
	if d.Blueprint != "" || d.UserString != "" {
		w := v1.Workspace{ID: name, UserString: d.UserString}
		w.Stage, w.Gone = d.Stage, d.Verdict == v1.VerdictGone
		return workspaceTreatment(w, flags)
	}
	option := ""
	if d.Namespace != "" {
		option = " --namespace " + Word(d.Namespace)
	}
	switch d.Verdict {
	case v1.VerdictFailed, v1.VerdictWaiting:
		return []Command{{"kubectl describe " + Word(d.Subject) + option, "what Kubernetes says about it"}}
	}
	return nil
}

func workspaceTreatment(w v1.Workspace, flags []string) []Command {
	t := Title{UserString: w.UserString, ID: w.ID, Flags: flags}
	again := Command{t.Command("provision"), "make it anew"}
	remove := Command{t.Command("delete"), "remove it"}
	switch w.Verdict() {
	case v1.VerdictRunning:
		return []Command{{Line: t.Command("exec")}}
	case v1.VerdictWaiting:
		again.Why = "follow it"
	case v1.VerdictTerminating:
		return nil
	}
	if w.UserString == "" { // without it, there is nothing to provision
		return []Command{remove}
	}
	return []Command{again, remove}
}
