package result

import (
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// ProvisionSummary is what became of several workspaces that were provisioned.
type ProvisionSummary struct {
	v1.ProvisionSummary
	batch
}

func newProvisionSummary(s v1.ProvisionSummary, b wording.Batch) ProvisionSummary {
	all := batch{Batch: b, done: "running", repeat: "follow again", totals: s.Totals}
	for i, item := range s.Items {
		all.add(i, item.Error, item.ID)
	}
	return ProvisionSummary{ProvisionSummary: s, batch: all}
}

// DeletionSummary is what became of several workspaces that were deleted.
type DeletionSummary struct {
	v1.DeletionSummary
	batch
}

func newDeletionSummary(s v1.DeletionSummary, b wording.Batch) DeletionSummary {
	all := batch{Batch: b, done: "deleted", repeat: "continue", totals: s.Totals}
	for i, item := range s.Items {
		all.add(i, item.Error, item.ID)
		if item.Deletion != nil && item.Deletion.NotFound {
			all.notFound++
		}
	}
	return DeletionSummary{DeletionSummary: s, batch: all}
}

// StateSummary is what became of several workspaces that were stopped, started or restarted.
type StateSummary struct {
	v1.StateSummary
	batch
}

func newStateSummary(s v1.StateSummary, b wording.Batch) StateSummary {
	all := batch{Batch: b, done: "running", repeat: "continue", totals: s.Totals}
	for i, item := range s.Items {
		if item.Stop != nil {
			all.done = "stopped"
		}
		all.add(i, item.Error, item.ID)
	}
	return StateSummary{StateSummary: s, batch: all}
}

// batch is what became of several workspaces, whatever was done to them.
type batch struct {
	wording.Batch `json:"-"`
	done          string // what those are that succeeded
	repeat        string // what the command would do to those that were interrupted
	totals        v1.Totals
	notFound      int // those that there was nothing to do for
	members       []member
	names         []string
}

// member is one of them.
type member struct {
	wording.Title
	err *Error
}

func (b *batch) add(i int, err *v1.Error, id string) {
	if err == nil {
		b.names = append(b.names, id)
	}
	if i >= len(b.Members) {
		return
	}
	m := member{Title: b.Members[i]}
	m.Flags = b.Flags
	if err != nil {
		m.err = &Error{*err}
	}
	b.members = append(b.members, m)
}

// Names are the IDs of those that succeeded.
func (b batch) Names() []string { return b.names }

// Exit is that of all.
func (b batch) Exit() int { return b.totals.ExitStatus }

// Text is nothing: it was the progress.
func (b batch) Text(style.Page) ([]string, error) { return nil, nil }

// tally counts how the members ended. One that timed out has failed, too; one that ran before
// is what was asked for, and yet no success.
type tally struct{ done, already, failed, timedOut, interrupted int }

func (b batch) tally() (t tally) {
	for _, m := range b.members {
		switch {
		case m.err == nil:
			t.done++
		case m.err.interrupted():
			t.interrupted++
		case m.err.timedOut():
			t.timedOut++
		case m.err.Runs():
			t.already++
		default:
			t.failed++
		}
	}
	return t
}

// headline says how it ended, in two halves.
func (b batch) headline() (head, rest string) {
	t, took := b.tally(), style.Brief(style.Seconds(b.totals.Seconds))
	done := t.done + t.already - b.notFound
	var parts []string
	switch {
	case t.interrupted > 0:
		head = "Interrupted after " + took
		parts = append(parts, fmt.Sprintf("%d of %d %s", done, len(b.members), b.done),
			fmt.Sprintf("%d no longer followed", t.interrupted))
	case t.failed+t.timedOut == 0:
		head = fmt.Sprintf("%d %s in %s", done, b.done, took)
	default:
		head = fmt.Sprintf("%d of %d %s after %s", done, len(b.members), b.done, took)
	}
	if t.already > 0 {
		parts = append(parts, fmt.Sprintf("%d already running", t.already))
	}
	if b.notFound > 0 {
		parts = append(parts, fmt.Sprintf("%d not found", b.notFound))
	}
	if t.failed > 0 {
		parts = append(parts, fmt.Sprintf("%d failed", t.failed))
	}
	if t.timedOut > 0 {
		parts = append(parts, fmt.Sprintf("%d timed out", t.timedOut))
	}
	return head, strings.Join(parts, ", ")
}

// next is the command to type next.
func (b batch) next() []wording.Command {
	t, again := b.tally(), wording.Command{Line: b.again()}
	switch {
	case t.interrupted > 0:
		again.Why = b.repeat
	case t.timedOut > 0:
		again.Why = "wait again"
	case t.failed > 0:
		again.Why = "retry those that are not " + b.done
	case b.done == "running":
		return []wording.Command{{
			Line: strings.Join(append([]string{"berth", "status"}, b.Flags...), " "),
			Why:  "list all workspaces",
		}}
	default:
		return nil
	}
	if again.Line == "" {
		return nil
	}
	return []wording.Command{again}
}

// again is the command that continues with what is not done: not with what does not exist.
func (b batch) again() string {
	var left []int
	for i, m := range b.members {
		if m.err != nil && !m.err.Runs() && m.err.Code != string(fault.NotFound) {
			left = append(left, i)
		}
	}
	switch {
	case len(left) == 0:
		return ""
	case b.AgainFor == nil || len(left) == len(b.members):
		return b.Again
	}
	return b.AgainFor(left)
}

// failure is one or more workspaces that failed alike: a cluster that is out of
// reach is reported once, not fifty times.
type failure struct {
	Error
	titles []wording.Title
}

// ranBefore is the hint for all that ran before; each alone is told how to enter it.
const ranBefore = "with --if-not-exists that is a success"

// failed are the failures, in the order of the batch. An interruption is not a failure.
func (b batch) failed() []failure {
	var failures []failure
	index := map[[4]string]int{}
	for _, m := range b.members {
		if m.err == nil || m.err.interrupted() {
			continue
		}
		hint := m.err.Hint
		if m.err.Runs() {
			hint = ranBefore
		}
		key := [4]string{m.err.Code + string(m.err.Left), m.err.shortMessage(), hint}
		if m.err.Logs != nil || len(m.err.Problems) > 0 {
			key[3] = m.ID // it has something of its own to say
		}
		i, known := index[key]
		if !known {
			i = len(failures)
			index[key] = i
			failures = append(failures, failure{Error: *m.err})
			failures[i].Hint = hint
		}
		failures[i].titles = append(failures[i].titles, m.Title)
	}
	return failures
}

// diagnose is how to look at one that failed, if there is anything to look at.
func (f failure) diagnose(t wording.Title) []wording.Command {
	if !f.isOutcome() || f.Workspace == nil || f.Left == v1.LeftDeleted || !f.isLeft() && !f.failed() {
		return nil
	}
	return []wording.Command{{Line: t.Command("diagnose")}}
}

// Outcome counts, and says of each failure why and what to do.
func (b batch) Outcome(p style.Page, _ wording.Title, _ time.Duration) Outcome {
	head, rest := b.headline()
	o := Outcome{
		Sign: p.Done, Colour: p.Green, Word: head, Facts: []string{rest}, Took: style.Seconds(b.totals.Seconds),
		Log: Entry{Label: "summary", Text: strings.TrimSuffix(head+", "+rest, ", ")}, Next: b.next(),
	}
	switch {
	case b.tally().interrupted > 0:
		o.Sign, o.Colour = p.Stopped, p.Yellow
	case b.totals.Failed > b.totals.AlreadyRunning:
		o.Sign, o.Colour = p.Failed, p.Red
	case b.totals.AlreadyRunning > 0:
		o.Sign, o.Colour = p.Stopped, p.Yellow
	}
	for _, f := range b.failed() {
		o.Details = append(o.Details, Detail{Lines: f.lines(p), Entries: f.entries(p)})
	}
	return o
}

// maxLogLines is how many of the last log lines are repeated: `berth diagnose` has
// the rest.
const maxLogLines = 3

func (f failure) lines(p style.Page) []string {
	names := make([]string, len(f.titles))
	for i, t := range f.titles {
		names[i] = style.Paint(p.Bold, p.Text(t.Target()))
	}
	lines := p.Indent(strings.Join(names, ", "))
	lines = append(lines, p.Indent(p.Paragraphs(f.shortMessage())...)...)
	lines = append(lines, p.Indent(slices.Concat(problemItems(p, f.Problems, f.Excerpts)...)...)...)
	lines = append(lines, p.Indent(p.Paragraphs(f.Hint)...)...)
	if f.Logs != nil {
		few := *f.Logs
		few.Lines = few.Lines[max(len(few.Lines)-maxLogLines, 0):]
		lines = append(lines, wording.LogLines(&few, p)...)
	}
	switch f.Left {
	case v1.LeftKept:
		for _, t := range f.titles {
			if t.Verb != "start" && t.Verb != "restart" { // it was there before
				lines = append(lines, p.Indent(p.Text("kept: "+t.Command("delete")))...)
			}
		}
	case v1.LeftDeleted:
		lines = append(lines, p.Indent("deleted what was created")...)
	}
	for _, next := range f.diagnose(f.titles[0]) {
		lines = append(lines, "    "+p.Text(next.Line))
	}
	return lines
}

// entries say the same of each that failed.
func (f failure) entries(p style.Page) (all []Entry) {
	why := strings.Join(strings.Fields(f.shortMessage()), " ")
	for _, t := range f.titles {
		all = append(all, Entry{ID: t.ID, Label: "summary " + f.Code, Text: t.Target() + ": " + why})
		for _, text := range p.Paragraphs(f.Hint) {
			all = append(all, Entry{ID: t.ID, Label: "hint", Text: text})
		}
		for _, next := range nextEntries(f.diagnose(t)) {
			next.ID = t.ID
			all = append(all, next)
		}
	}
	return all
}
