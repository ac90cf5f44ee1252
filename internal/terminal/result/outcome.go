package result

import (
	"slices"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// Kind is a document that a command prints. A kind can have more methods:
//
//	Names() []string  what it is called, for --output name
//	Items() []Kind    its parts, for --output jsonl: a line for each
//	Empty() string    the remark that is printed if there is nothing in it
type Kind interface {
	// Text is what people read.
	Text(p style.Page) ([]string, error)
}

// Ending is a Kind that a command with progress ends with. One that is no success also has
//
//	Exit() int  the exit status of the command
type Ending interface {
	Kind
	// Outcome is the document in the parts that it is shown in. The title is what the command worked on; between is the
	// time from its first event to its last, for a document that does not say how long the command took.
	Outcome(p style.Page, t wording.Title, between time.Duration) Outcome
}

// Exit is the exit status of a command that ends so.
func Exit(e Ending) int {
	if status, ok := e.(interface{ Exit() int }); ok {
		return status.Exit()
	}
	return 0
}

// Outcome is how a command ended: made of a document, and shown as a row, a summary or log lines.
type Outcome struct {
	Sign   string
	Word   string         // how it ended: Deleted
	Colour lipgloss.Style // of the sign; of the word, too, if Failed, and in a row
	Stage  v1.Stage       // if the word is one: a row has the colour of that
	Failed bool
	Name   string // what it is about, where the headline says so
	Took   time.Duration
	Time   string   // what the headline says of that: in 3s
	Facts  []string // what there is to know besides
	Why    string   // why it is so, which comes before facts
	Short  string   // what a row says instead of them
	Stages []v1.StepTiming
	Log    Entry // the first log line, where it is not made of the facts
	// Kept are the lines on what was left, directly below the headline.
	Kept []string
	// Details are paragraphs of their own.
	Details []Detail
	Next    []wording.Command
	// Ordinary are the lines of an error that says nothing about the workspace. They are all that a command with
	// nothing else to show prints.
	Ordinary []string
}

// Detail is a paragraph of a summary, and the log lines that say the same. Either may be missing.
type Detail struct {
	Lines   []string
	Entries []Entry
	Alone   bool // log lines only of a command for one: of several, they follow at the end of all
}

// Row is a line in a table: how it ended, in a word, and why.
type Row struct {
	Sign, Word string
	Colour     lipgloss.Style // of both
	Why        string
}

// Entry is a dated line: what it is about, and what there is to say.
type Entry struct {
	// ID is the workspace that it is about; empty for that of the event.
	ID          string
	Label, Text string
	// Undated is set for lines of an ordinary error, which are printed as such.
	Undated bool
}

// entries are lines with one label.
func entries(label string, texts ...string) []Entry {
	all := make([]Entry, len(texts))
	for i, text := range texts {
		all[i] = Entry{Label: label, Text: text}
	}
	return all
}

// Row is the line in a table of several.
func (o Outcome) Row(p style.Page) Row {
	r := Row{Sign: o.Sign, Word: o.Word, Colour: o.Colour, Why: o.Short}
	if o.Stage != "" {
		r.Colour = p.Stage(o.Stage)
	}
	if r.Why == "" {
		r.Why = strings.Join(o.Facts, ", ")
	}
	return r
}

// Summary is what stays below the live view.
func (o Outcome) Summary(p style.Page) []string {
	if o.Ordinary != nil {
		return o.Ordinary
	}
	head := []string{style.Paint(o.Colour, o.Sign) + " " + style.Paint(p.Bold, o.Word)}
	if o.Failed {
		head[0] = style.Paint(o.Colour, o.Sign+" "+o.Word)
	}
	for _, part := range []string{p.Text(o.Name), o.Time} {
		if part != "" {
			head = append(head, part)
		}
	}
	rest := p.Text(o.Why)
	if rest == "" {
		facts := slices.Concat(o.Facts, stageTexts(o.Stages, style.Tenths))
		rest = style.Paint(p.Grey, p.Text(strings.Join(facts, p.Dot)))
	}
	lines := p.Headline(strings.Join(head, " "), rest)
	for _, kept := range o.Kept {
		lines = append(lines, p.Indent(p.Text("kept "+kept))...)
	}
	for _, d := range o.Details {
		lines = append(lines, style.Paragraph(d.Lines)...)
	}
	return append(lines, wording.CommandLines(o.Next, p)...)
}

// Entries are the log lines: of a command for one, or for one of several, whose hints follow at the end of all.
func (o Outcome) Entries(alone bool) (all []Entry) {
	if alone && o.Ordinary != nil {
		for _, line := range o.Ordinary {
			all = append(all, Entry{Text: line, Undated: true})
		}
		return all
	}
	first := o.Log
	if first.Label == "" {
		facts := strings.Join(o.Facts[1:], ", ")
		first.Label = strings.ToLower(o.Word)
		first.Text = strings.TrimSuffix(strings.TrimSpace(o.Facts[0]+" "+o.Time)+", "+facts, ", ")
	}
	all = append(all, first)
	if len(o.Stages) > 0 {
		all = append(all, Entry{Label: "timing", Text: strings.Join(stageTexts(o.Stages, style.Brief), ", ")})
	}
	all = append(all, entries("kept", o.Kept...)...)
	for _, d := range o.Details {
		if alone || !d.Alone {
			all = append(all, d.Entries...)
		}
	}
	if alone {
		all = append(all, nextEntries(o.Next)...)
	}
	return all
}

// nextEntries are the commands to type next.
func nextEntries(commands []wording.Command) (all []Entry) {
	for _, c := range commands {
		all = append(all, Entry{Label: "next", Text: c.Line})
	}
	return all
}

// Text says in one line what became of what the command was for.
func (o Outcome) Text(p style.Page) []string {
	lines := []string{p.Text(o.Name) + " " + strings.ToLower(o.Word)}
	for _, kept := range o.Kept {
		lines = append(lines, p.Text("kept "+kept))
	}
	for _, d := range o.Details {
		lines = append(lines, style.Paragraph(d.Lines)...)
	}
	return lines
}

// stageTexts are stages and their times.
func stageTexts(stages []v1.StepTiming, format func(time.Duration) string) (texts []string) {
	for _, s := range stages {
		texts = append(texts, strings.ToLower(s.Name)+" "+format(style.Seconds(s.Seconds)))
	}
	return texts
}
