package wording

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/english"
	"github.com/berthdev/berth/internal/terminal/style"
)

// WarningText names the container if the message does not.
func WarningText(w v1.Warning) string {
	if _, container, ok := strings.Cut(w.Object, ":"); ok && !contains(w.Message, container) {
		return container + ": " + w.Message
	}
	return w.Message
}

// WarningLine is one warning with its count and, while it is live, its age.
func WarningLine(w v1.Warning, p style.Page, live bool) string {
	name := p.Text(w.Reason)
	if w.Count > 1 {
		name += fmt.Sprintf(" %s%d", p.Times, w.Count)
	}
	if !p.Wide {
		name = p.CutMiddle(name, max(p.Width/2-6, 8))
	}
	age := ""
	if live && !w.At.IsZero() && p.Now.Sub(w.At) >= 1e9 {
		age = "   " + style.Whole(p.Now.Sub(w.At)) + " ago"
	}
	if style.Width(age) > p.Width/4 {
		age = ""
	}
	room := p.Width - 1 - 4 - style.Width(name) - 3 - style.Width(age)
	text := p.Text(WarningText(w))
	if !p.Wide {
		text = p.Cut(text, max(room, 0))
	}
	return "  " + style.Paint(p.Yellow, p.Warning+" "+name) + "   " + text + style.Paint(p.Grey, age)
}

// LastingWarnings are those that need attention: not what is tentative, which mostly passes.
func LastingWarnings(ws []v1.Warning) []v1.Warning {
	return slices.DeleteFunc(slices.Clone(ws), func(w v1.Warning) bool { return w.Tentative })
}

// UnreadLines are what a reading was made without, as the caller may not read it.
func UnreadLines(unread []string, p style.Page) (lines []string) {
	for _, permission := range unread {
		lines = append(lines, p.Indent(p.Warning+" made without permission to "+p.Text(permission))...)
	}
	return lines
}

// WarningLines are warnings that are live, and have lasted.
func WarningLines(ws []v1.Warning, p style.Page) []string {
	ws = LastingWarnings(ws)
	lines := make([]string, len(ws))
	for i, w := range ws {
		lines[i] = WarningLine(w, p, true)
	}
	return lines
}

// LogLines are the last lines of a container's log, each behind a bar.
func LogLines(t *v1.LogTail, p style.Page) []string {
	if t == nil || len(t.Lines) == 0 {
		return nil
	}
	label := "last log lines"
	switch {
	case t.Script != "":
		label = "last lines of init script " + p.Text(t.Script)
	case t.Container != "":
		label += " of " + p.Text(t.Container)
	}
	if t.Previous {
		label += " (previous instance)"
	}
	return append(p.Indent(label+":"), OutputLines(t.Lines, p)...)
}

// CauseText names the container if the message does not.
func CauseText(c v1.Cause) string {
	if c.Container != "" && !contains(c.Message, c.Container) {
		return c.Container + ": " + c.Message
	}
	return c.Message
}

// CauseInShort begins with what says the most where there is little room: the code, then what
// it is about, and at the end the container.
func CauseInShort(c v1.Cause) string {
	text := c.Message
	if c.Container != "" {
		text = strings.TrimPrefix(strings.TrimPrefix(text, "container "+c.Container+": "), c.Container+": ")
		if !contains(text, c.Container) {
			text += " (" + c.Container + ")"
		}
	}
	if c.Code == "" {
		return text
	}
	return c.Code + ": " + withoutCode(c, text)
}

// CauseAfterCode is CauseText behind the code of the cause.
func CauseAfterCode(c v1.Cause) string { return withoutCode(c, CauseText(c)) }

// withoutCode is a text without the code in front, where that is Kubernetes' word, too.
func withoutCode(c v1.Cause, text string) string { return strings.TrimPrefix(text, c.Code+": ") }

// Lasting is a cause that people are to read: one that has lasted for a few
// seconds, or is final; nil for others.
func Lasting(c *v1.Cause) *v1.Cause {
	if c != nil && c.Tentative {
		return nil
	}
	return c
}

// CauseOrMessage is why a workspace is where it is, as far as that is known.
func CauseOrMessage(s v1.Snapshot) string {
	if c := Lasting(s.Cause); c != nil && c.Message != "" {
		return CauseText(*c)
	}
	return s.Message
}

// IgnoredText names the causes that are not failures because they are ignored on request.
func IgnoredText(codes []string) string {
	if len(codes) == 0 {
		return ""
	}
	return "; ignored on request: " + strings.Join(codes, ", ")
}

// Known says whether a cause would only repeat what is on the screen.
func Known(cause, message string, shown []v1.Warning) bool {
	for _, w := range shown {
		if contains(w.Message, cause) {
			return true
		}
	}
	return contains(message, cause)
}

func contains(s, part string) bool { return part != "" && strings.Contains(s, part) }

// InProgress tells the stages that one goes through from those that one ends in;
// the latter are shown with the result.
func InProgress(s v1.Snapshot) bool {
	v := s.Verdict()
	return v == v1.VerdictWaiting || v == v1.VerdictTerminating || v == v1.VerdictStuck
}

// ContainerText is a container's state and what is unusual about it.
func ContainerText(c v1.Container) string {
	if c.Reason == v1.NotStarted {
		return "not started"
	}
	text := string(c.State)
	if c.Reason != "" && c.State != v1.ContainerDone && c.State != v1.ContainerReady && !ordinary(c.Reason) {
		text += " " + c.Reason
	}
	if c.ExitCode != nil && *c.ExitCode != 0 {
		text += fmt.Sprintf(", exit code %d", *c.ExitCode)
	}
	if c.Restarts > 0 {
		text += ", " + english.Plural(c.Restarts, "restart")
	}
	return text
}

// ordinary are Kubernetes' words for what the state says already.
func ordinary(reason string) bool {
	switch reason {
	case "PodInitializing", "ContainerCreating", "Completed", "Pulling", "Pulled":
		return true
	}
	return false
}

// ScriptText is what has become of an init script; while it runs, what it has said last.
// The pod is named if it is not that of the workspace's name.
func ScriptText(s v1.Script, id string) string {
	text := "init script"
	switch {
	case s.State == v1.ScriptFailed && s.ExitCode != nil:
		text = fmt.Sprintf("failed with exit code %d", *s.ExitCode)
	case s.State == v1.ScriptSkipped:
		text = "init script, has run before"
	case s.State == v1.ScriptRunning && len(s.Lines) > 0:
		text = s.Lines[len(s.Lines)-1]
	}
	if pod := s.Pod(); pod != "" && pod != id && s.State == v1.ScriptFailed {
		text += " in " + pod
	}
	return text
}

// ScriptFailed says which init scripts have failed; empty if none has.
func ScriptFailed(all []v1.Script) string {
	var failed []string
	for _, s := range all {
		if s.State == v1.ScriptFailed {
			failed = append(failed, s.Name)
		}
	}
	switch len(failed) {
	case 0:
		return ""
	case 1:
		return "init script " + failed[0] + " failed"
	}
	return "init scripts failed: " + strings.Join(failed, ", ")
}

// OutputLines are lines that something has written, each behind a bar and wrapped.
func OutputLines(output []string, p style.Page) []string {
	var lines []string
	for _, text := range output {
		for l := range strings.SplitSeq(ansi.Hardwrap(p.Text(text), max(p.Width-1-6, 20), true), "\n") {
			lines = append(lines, strings.TrimRight("    "+style.Paint(p.Grey, p.Bar)+" "+l, " "))
		}
	}
	return lines
}

// StuckText is what is said of a cause that only a person can change.
const StuckText = "this will not resolve by itself: someone has to act"

// IsStuck says whether a workspace waits for what only a person can change.
func IsStuck(s v1.Snapshot) bool { return InProgress(s) && s.Cause != nil && s.Cause.Stuck }

// WaysOut are how to leave the waiting for a workspace that is stuck, and how to end it. One
// that was there before the command is stopped rather than deleted.
func (t Title) WaysOut() []string {
	again, end := "provision", "stop"
	switch t.Verb {
	case "start", "restart":
		again = "start"
	case "exec":
		again = "exec"
	case "provision":
		end = "delete"
	}
	return []string{
		"Ctrl-C leaves it working; `" + t.Command(again) + "` follows it again.",
		"`" + t.Command(end) + "` ends it. See also --timeout and --stuck-after.",
	}
}

// TreatmentsText says what a policy makes of a cause.
func TreatmentsText(treatments []v1.Treatment) string {
	texts := make([]string, len(treatments))
	for i, t := range treatments {
		texts[i] = treatmentText(t)
	}
	text := strings.Join(texts, ", or ")
	if len(treatments) > 1 {
		return "depending on the case, " + text
	}
	return text
}

func treatmentText(t v1.Treatment) string {
	switch t {
	case v1.TreatmentFails:
		return "it fails at once"
	case v1.TreatmentSpared:
		return "it fails if this has not passed within the grace period"
	case v1.TreatmentWaits:
		return "it waits"
	}
	return string(t)
}

// Stays is said of what is waited for and only a person can change.
const Stays = "only a person can change this: berth says so after a minute, and --stuck-after ends the waiting"
