package result

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/english"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// Error is an error, which may be how a provisioning ended.
type Error struct{ v1.Error }

// The limits of what an error says. What is longer has something in it that is not
// for people, such as a script that was put into a field of a number.
const (
	maxMessage  = 8 << 10 // bytes, of the message and of the hint
	maxProblem  = 2 << 10 // bytes
	maxProblems = 200
)

// NewError is the document of an error.
func NewError(err error) *v1.Error {
	f := fault.From(err)
	found := make([]string, 0, len(f.Problems))
	for i, problem := range f.Problems {
		if i == maxProblems {
			found = append(found, english.Plural(len(f.Problems)-maxProblems, "more problem"))
			break
		}
		found = append(found, fault.Shorten(problem, maxProblem))
	}
	problems, excerpts := fault.CutExcerpts(found)
	return &v1.Error{
		Code: string(f.Code), Reason: f.Reason, ExitStatus: f.Code.Exit(),
		Message: fault.Shorten(f.Message, maxMessage), Detail: fault.Shorten(f.Detail, maxMessage),
		Hint: fault.Shorten(f.Hint, maxMessage), Problems: problems, Excerpts: excerpts,
	}
}

// items are the problems of a document as a list, each with the line that it is about.
func items(p style.Page, problems, excerpts []string) (texts [][]string) {
	for i, problem := range problems {
		excerpt := ""
		if i < len(excerpts) {
			excerpt = excerpts[i]
		}
		texts = append(texts, p.Item(problem, excerpt))
	}
	return texts
}

func (e Error) failed() bool   { return fault.Code(e.Code) == fault.Failed }
func (e Error) timedOut() bool { return fault.Code(e.Code) == fault.DeadlineExceeded }

// Runs is true for a workspace that ran before: there was nothing to do.
func (e Error) Runs() bool { return fault.Code(e.Code) == fault.AlreadyExists && e.Workspace != nil }

func (e Error) interrupted() bool {
	c := fault.Code(e.Code)
	return c == fault.Interrupted || c == fault.Terminated
}

// stuck is true for a workspace that was not waited for any longer, for only a person can
// change what it waits for.
func (e Error) stuck() bool {
	return e.failed() && e.Workspace != nil && e.Workspace.Verdict() == v1.VerdictStuck
}

// Stopped says whether the command stopped waiting, for nothing has failed.
func (e Error) Stopped() bool { return e.interrupted() || e.timedOut() }

// isOutcome tells how a provisioning ended from what kept a command from working.
func (e Error) isOutcome() bool { return e.failed() || e.Stopped() }

// Text is the error in one glance: what, why, what now.
func (e Error) Text(p style.Page) ([]string, error) {
	message := p.Paragraphs(e.Message)
	if len(message) == 0 {
		message = []string{"unknown error"}
	}
	last := len(message) - 1
	message[last] = fmt.Sprintf("%s (%s)", message[last], e.Code)
	lines := p.Hanging(style.Paint(p.Red, "error:")+" ", message)
	for _, item := range items(p, e.Problems, e.Excerpts) {
		lines = append(lines, p.Hanging("       - ", []string{strings.TrimPrefix(item[0], "- ")})...)
		lines = append(lines, style.Labelled("       ", item[1:])...) // a mark is below what it is about
	}
	return append(lines, p.Hanging(style.Paint(p.Grey, "hint:")+"  ", p.Paragraphs(e.Hint))...), nil
}

// Exit is that of its code.
func (e Error) Exit() int { return e.ExitStatus }

// Took is what the timing of the workspace says.
func (e Error) Took(between time.Duration) time.Duration {
	if e.Workspace == nil {
		return between
	}
	return Workspace{*e.Workspace}.Took(between)
}

// word is how it ended in a word, and its colour and sign.
func (e Error) word(p style.Page) (word string, colour lipgloss.Style, sign string) {
	switch {
	case e.interrupted():
		return "Interrupted", p.Yellow, p.Stopped
	case e.timedOut():
		return "Timed out", p.Red, p.Failed
	case e.Runs():
		return "Running", p.Yellow, p.Stopped
	}
	if e.stuck() {
		return "Gave up", p.Red, p.Failed
	}
	return "Failed", p.Red, p.Failed
}

// Row says why, in one line.
func (e Error) Row(p style.Page) Row {
	word, colour, sign := e.word(p)
	why, _, _ := strings.Cut(e.shortMessage(), "\n")
	if w := e.Workspace; w != nil && w.Cause != nil && why == wording.CauseText(*w.Cause) {
		why = wording.CauseInShort(*w.Cause) // as in lists
	}
	return Row{Sign: sign, Word: word, Colour: colour, Why: why}
}

// shortMessage is the outcome in half a line. The message of the error names the
// workspace, which is in the first line already.
func (e Error) shortMessage() string {
	switch {
	case e.Workspace == nil:
		return e.detailOrMessage()
	case e.Runs():
		return "already running"
	}
	s := e.Workspace.Snapshot
	why := s.Message
	if s.Cause != nil && s.Cause.Message != "" {
		why = wording.CauseText(*s.Cause) // also a tentative one: nothing will be known beyond it
	}
	switch {
	case e.stuck() && why != "":
		return "still " + string(s.Stage) + ": " + why
	case e.failed() && s.Cause != nil && s.Cause.Message != "":
		return why
	case e.failed():
		return e.Message
	case why != "":
		return "still " + string(s.Stage) + ": " + why + wording.IgnoredText(s.Ignored)
	case s.Stage == "" || s.Stage == v1.StageUnknown:
		return e.detailOrMessage() // a stage that says nothing
	default:
		return "still " + string(s.Stage)
	}
}

// detailOrMessage is what the error says beyond how it ended and after what time:
// that is the first half of the headline.
func (e Error) detailOrMessage() string {
	if e.Stopped() {
		return e.Detail
	}
	return e.Message
}

// furtherMessage is the message of a failure if the short message does not say it:
// that is the cause, and the error may be another one.
func (e Error) furtherMessage() string {
	if !e.failed() || e.Message == e.shortMessage() || e.Workspace != nil && e.Workspace.Cause != nil &&
		e.Message == e.Workspace.Cause.Message {
		return ""
	}
	return e.Message
}

// Summary says how it ended, what that means, and what the container logged last.
func (e Error) Summary(p style.Page, t wording.Title, between time.Duration) []string {
	if !e.isOutcome() {
		lines, _ := e.Text(p)
		return lines
	}
	word, colour, sign := e.word(p)
	lines := p.Headline(style.Paint(colour, sign+" "+word)+" after "+style.Brief(e.Took(between)),
		p.Text(e.shortMessage()))
	lines = append(lines, style.Paragraph(p.Indent(p.Paragraphs(e.furtherMessage())...))...)
	lines = append(lines, style.Paragraph(p.Indent(slices.Concat(items(p, e.Problems, e.Excerpts)...)...))...)
	lines = append(lines, style.Paragraph(p.Indent(p.Paragraphs(e.Hint)...))...)
	if e.Left == v1.LeftDeleted {
		lines = append(lines, style.Paragraph(p.Indent(style.Paint(p.Grey, "deleted what was created")))...)
	}
	lines = append(lines, style.Paragraph(wording.LogLines(e.Logs, p))...)
	return append(lines, wording.CommandLines(e.afterProvision(t), p)...)
}

// Entries say the same.
func (e Error) Entries(p style.Page, t wording.Title, between time.Duration, alone bool) []Entry {
	var entries []Entry
	if alone && !e.isOutcome() {
		lines, _ := e.Text(p)
		for _, line := range lines {
			entries = append(entries, Entry{Text: line, Undated: true})
		}
		return entries
	}
	add := func(label string, texts ...string) {
		for _, text := range texts {
			entries = append(entries, Entry{Label: label, Text: text})
		}
	}
	word, _, _ := e.word(p)
	what := strings.Join(strings.Fields(e.shortMessage()), " ")
	add("error "+e.Code, strings.TrimSuffix(fmt.Sprintf("%s after %s: %s", strings.ToLower(word),
		style.Brief(e.Took(between)), what), ": "))
	if more := e.furtherMessage(); more != "" {
		add("error "+e.Code, more)
	}
	for _, item := range items(p, e.Problems, e.Excerpts) {
		for _, line := range item {
			add("problem", strings.TrimPrefix(line, "- "))
		}
	}
	if alone {
		add("hint", p.Paragraphs(e.Hint)...)
	}
	switch {
	case e.updated(), t.Verb == "start", t.Verb == "restart": // it was there before
	case e.Left == v1.LeftKept:
		add("kept", t.Command("delete")+" deletes the workspace and all it has")
	case e.Left == v1.LeftDeleted:
		add("deleted", "what was created")
	}
	if e.Logs != nil {
		label := "log " + e.Logs.Container
		if e.Logs.Previous {
			label += " (previous)"
		}
		add(label, e.Logs.Lines...)
	}
	if alone {
		entries = append(entries, nextEntries(e.afterProvision(t))...)
	}
	return entries
}

// isLeft says whether there is something on the cluster to look at.
func (e Error) isLeft() bool {
	return e.Workspace != nil && !e.Workspace.CreatedAt.IsZero() && e.Left != v1.LeftDeleted
}

// updated is true for a workspace that existed before, with any storage it has: what the command has
// created is not all that there is.
func (e Error) updated() bool {
	return e.Workspace != nil && e.Workspace.Update != nil && len(e.Workspace.Update.Changes)+
		len(e.Workspace.Update.Storage) > 0
}

// afterProvision proposes to look at and to delete only what there is.
func (e Error) afterProvision(t wording.Title) []wording.Command {
	if t.Verb != "provision" && t.Verb != "update" || !e.isOutcome() || e.Workspace == nil {
		return nil
	}
	var commands []wording.Command
	add := func(verb, why string) { commands = append(commands, wording.Command{Line: t.Command(verb), Why: why}) }
	if !e.interrupted() && e.Left != v1.LeftDeleted && (e.isLeft() || e.failed()) {
		add("diagnose", "everything that is known about it")
	}
	switch {
	case e.stuck():
		add("provision", "wait again")
	case e.failed():
	case !e.isLeft():
		add("provision", "try again")
	case e.interrupted():
		add("provision", "follow again")
	default:
		add("provision", "wait again")
	}
	switch {
	case e.updated() && e.Workspace.Update.Revision > 1:
		commands = append(commands, wording.Command{Line: t.Command("update") + " --rollback", Why: "go back to what it was"})
	case e.updated():
	case e.Left == v1.LeftKept:
		add("delete", "delete the workspace and all it has")
	case e.isLeft():
		add("delete", "delete the workspace and all it has")
	}
	return commands
}
