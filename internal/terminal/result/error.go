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

// problemItems are the problems of a document as a list, each with the line that it is about.
func problemItems(p style.Page, problems, excerpts []string) (texts [][]string) {
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
	for _, item := range problemItems(p, e.Problems, e.Excerpts) {
		lines = append(lines, p.Hanging("       - ", []string{strings.TrimPrefix(item[0], "- ")})...)
		lines = append(lines, style.Labelled("       ", item[1:])...) // a mark is below what it is about
	}
	return append(lines, p.HangingAdvice(style.Paint(p.Grey, "hint:")+"  ", p.Paragraphs(e.Hint))...), nil
}

// Exit is that of its code.
func (e Error) Exit() int { return e.ExitStatus }

// Outcome says how it ended, why, what to do, what the container logged last, and what to type next.
func (e Error) Outcome(p style.Page, t wording.Title, between time.Duration) Outcome {
	o := Outcome{Failed: true, Why: e.shortMessage(), Short: e.inARow(), Next: e.afterProvision(t)}
	o.Word, o.Colour, o.Sign = e.word(p)
	o.Took = tookOr(between, seconds(timing(e.Workspace, nil)))
	o.Time = "after " + style.Brief(o.Took)
	if !e.isOutcome() {
		o.Ordinary, _ = e.Text(p)
	}
	o.Log = Entry{
		Label: "error " + e.Code,
		Text: strings.TrimSuffix(strings.ToLower(o.Word)+" "+o.Time+": "+strings.Join(strings.Fields(o.Why), " "),
			": "),
	}
	if more := e.furtherMessage(); more != "" {
		o.Details = append(o.Details, Detail{
			Lines:   p.Indent(p.Paragraphs(more)...),
			Entries: entries(o.Log.Label, more),
		})
	}
	problems, hint := slices.Concat(problemItems(p, e.Problems, e.Excerpts)...), p.Paragraphs(e.Hint)
	o.Details = append(o.Details,
		Detail{Lines: p.Indent(problems...), Entries: problemEntries(problems)},
		Detail{Lines: p.Indent(hint...), Entries: entries("hint", hint...), Alone: true},
		e.left(p, t))
	if e.Logs != nil {
		label := "log " + e.Logs.Container
		if e.Logs.Previous {
			label += " (previous)"
		}
		o.Details = append(o.Details, Detail{
			Lines:   wording.LogLines(e.Logs, p),
			Entries: entries(label, e.Logs.Lines...),
		})
	}
	return o
}

func problemEntries(problems []string) (all []Entry) {
	for _, line := range problems {
		all = append(all, Entry{Label: "problem", Text: strings.TrimPrefix(line, "- ")})
	}
	return all
}

// left says what became of what was created.
func (e Error) left(p style.Page, t wording.Title) (d Detail) {
	if e.Left == v1.LeftDeleted {
		d.Lines = p.Indent(style.Paint(p.Grey, "deleted what was created"))
	}
	switch {
	case e.updated(), t.Verb == "start", t.Verb == "restart": // it was there before
	case e.Left == v1.LeftKept:
		d.Entries = entries("kept", t.Command("delete")+" deletes the workspace and all it has")
	case e.Left == v1.LeftDeleted:
		d.Entries = entries("deleted", "what was created")
	}
	return d
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

// inARow is why, in one line; a cause as in lists.
func (e Error) inARow() string {
	why, _, more := strings.Cut(e.shortMessage(), "\n")
	if e.isCause() && !more {
		return wording.CauseInShort(*e.Workspace.Cause)
	}
	return why
}

// isCause says whether the cause is all that the short message says.
func (e Error) isCause() bool {
	return e.failed() && e.Workspace != nil && !e.stuck() && e.Workspace.Cause != nil && e.Workspace.Cause.Message != ""
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
	case e.isCause():
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
		commands = append(commands, wording.Command{
			Line: t.Command("update") + " --rollback",
			Why:  "go back to what it was",
		})
	case e.updated():
	case e.Left == v1.LeftKept:
		add("delete", "delete the workspace and all it has")
	case e.isLeft():
		add("delete", "delete the workspace and all it has")
	}
	return commands
}
