package progress

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/result"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// plain makes a dated line of each change, for logs and for grep. A line says
// when, about which workspace, and what kind of thing it is; nothing is repeated.
type plain struct {
	page    style.Page
	batch   wording.Batch
	members map[string]*member // by ID
}

// member is what has been said about a workspace.
type member struct {
	title    wording.Title
	begun    time.Time
	stage    told
	cause    told
	hint     string
	stuck    bool
	progress string
	warnings toldWarnings
	replicas map[string]v1.Stage
}

func newPlain(out terminal.Output, b wording.Batch) *plain {
	caps := out.Capabilities
	caps.Profile = style.NoColour // lines to be searched, also where colour is forced
	p := &plain{page: style.Page{Styles: caps.Styles(), Width: 1 << 16}, batch: b, members: map[string]*member{}}
	for _, title := range b.Members {
		p.members[title.ID] = &member{title: title, warnings: toldWarnings{}, replicas: map[string]v1.Stage{}}
	}
	return p
}

// text is the lines that an event is worth.
func (p *plain) text(e v1.Event) string {
	p.page.Now = e.At
	m := p.members[e.Workspace]
	if p.batch.Single {
		m = p.members[p.batch.Members[0].ID]
		e.Workspace = m.title.ID
	}
	switch {
	case m == nil && e.Result == nil:
		return ""
	case m == nil:
		m = &member{} // it is about all of them
	}
	if m.begun.IsZero() {
		m.begun = e.At
	}
	var b strings.Builder
	for _, entry := range p.entries(m, e) {
		b.WriteString(p.line(e, entry) + "\n")
	}
	return b.String()
}

func (p *plain) entries(m *member, e v1.Event) []result.Entry {
	switch {
	case e.Step != nil:
		return stepEntries(*e.Step)
	case e.Stage != nil:
		return m.stageEntries(*e.Stage, p.page)
	case e.Warning != nil && !e.Warning.Tentative:
		return m.warningEntries(*e.Warning, false)
	case e.Script != nil:
		return m.scriptEntries(*e.Script)
	case e.Progress != nil && e.Progress.Message != m.progress:
		m.progress = e.Progress.Message
		return []result.Entry{{Label: "progress", Text: m.progress}}
	case e.Outcome != nil:
		return p.outcome(m, *e.Outcome, e.At).Entries(false)
	case e.Result != nil:
		return p.outcome(m, *e.Result, e.At).Entries(true)
	}
	return nil
}

func (p *plain) outcome(m *member, r v1.Result, at time.Time) result.Outcome {
	return result.Of(withoutScriptOutput(r), p.batch).Outcome(p.page, m.title, at.Sub(m.begun))
}

// withoutScriptOutput is a result without the output of a script, which came when that had failed.
func withoutScriptOutput(r v1.Result) v1.Result {
	if r.Error != nil && r.Error.Logs != nil && r.Error.Logs.Script != "" {
		e := *r.Error
		e.Logs, r.Error = nil, &e
	}
	return r
}

// line is one dated line.
func (p *plain) line(e v1.Event, entry result.Entry) string {
	if entry.Undated {
		return entry.Text
	}
	id := e.Workspace
	if entry.ID != "" {
		id = entry.ID
	}
	head := strings.Join(strings.Fields(e.At.UTC().Format(time.RFC3339)+" "+p.page.Text(id)+" "+
		p.page.Text(entry.Label)), " ")
	if text := p.page.Text(entry.Text); text != "" {
		return head + ": " + text
	}
	return head
}

func stepEntries(s v1.Step) []result.Entry {
	label, took := "step "+s.Name, ""
	switch {
	case s.State == v1.StepBegun:
		return nil
	case s.State == v1.StepFailed:
		label += " failed"
	case s.Seconds > 0:
		took = " (" + style.Brief(style.Seconds(s.Seconds)) + ")"
	}
	return []result.Entry{{Label: label, Text: s.Message + took}}
}

// scriptEntries are an init script that begins, and what became of it. What it says is not
// repeated, unless it has failed.
func (m *member) scriptEntries(s v1.Script) []result.Entry {
	took := ""
	if s.Seconds > 0 {
		took = " (" + style.Brief(style.Seconds(s.Seconds)) + ")"
	}
	switch s.State {
	case v1.ScriptRunning:
		if len(s.Lines) > 0 {
			return nil
		}
		return []result.Entry{{Label: "script " + s.Name, Text: "started"}}
	case v1.ScriptFailed:
		entries := []result.Entry{{Label: "warning script " + s.Name, Text: wording.ScriptText(s, m.title.ID) + took}}
		for _, line := range s.Lines {
			entries = append(entries, result.Entry{Label: "log " + s.Name, Text: line})
		}
		return entries
	}
	return []result.Entry{{Label: "script " + s.Name, Text: string(s.State) + took}}
}

// stageEntries are a stage, what it waits for, and the warnings of a reading. The
// stages that one ends in come with the result, which knows how long it took.
func (m *member) stageEntries(s v1.Snapshot, p style.Page) []result.Entry {
	var entries []result.Entry
	if wording.InProgress(s) && m.stage.isNew(s.Stage, s.Message) {
		entries = append(entries, result.Entry{Label: "stage " + string(s.Stage), Text: s.Message})
	}
	entries = append(entries, m.replicaEntries(s.Replicas)...)
	s.Warnings = wording.LastingWarnings(s.Warnings)
	m.warnings.keep(s.Warnings)
	for _, w := range s.Warnings {
		entries = append(entries, m.warningEntries(w, true)...)
	}
	if s.Cause == nil {
		m.cause.forget()
	}
	if c := wording.Lasting(s.Cause); c != nil && wording.InProgress(s) && m.cause.isNew(isCause(*c), c.Message) {
		if !wording.Known(c.Message, s.Message, s.Warnings) {
			entries = append(entries, result.Entry{Label: "cause " + c.Code, Text: wording.CauseAfterCode(*c)})
		}
		if c.Hint != m.hint {
			m.hint = c.Hint
			for _, text := range p.Paragraphs(c.Hint) {
				entries = append(entries, result.Entry{Label: "hint", Text: text})
			}
		}
	}
	return append(entries, m.stuckEntries(s)...)
}

// stuckEntries say once that it will not go on by itself, and how to leave it.
func (m *member) stuckEntries(s v1.Snapshot) (entries []result.Entry) {
	known := m.stuck
	if m.stuck = wording.IsStuck(s); !m.stuck || known {
		return nil
	}
	for _, text := range append([]string{wording.StuckText}, m.title.WaysOut()...) {
		entries = append(entries, result.Entry{Label: "stuck", Text: text})
	}
	return entries
}

// replicaEntries are the replicas whose stage has changed, and those that are
// gone.
func (m *member) replicaEntries(rs []v1.Replica) []result.Entry {
	var entries []result.Entry
	now := make(map[string]v1.Stage, len(rs))
	for _, r := range rs {
		now[r.Name] = r.Stage
		if m.replicas[r.Name] != r.Stage {
			entries = append(entries, result.Entry{Label: "replica " + r.Name + " " + string(r.Stage), Text: r.Message})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.replicas)) {
		if _, exists := now[name]; !exists {
			entries = append(entries, result.Entry{Label: "replica " + name + " gone"})
		}
	}
	m.replicas = now
	return entries
}

// warningEntries are a warning that is new; that it happens again and again is none.
func (m *member) warningEntries(w v1.Warning, inReading bool) []result.Entry {
	if !m.warnings.isNew(w, inReading) {
		return nil
	}
	label := "warning " + w.Reason
	if w.Count > 1 {
		label += fmt.Sprintf(" x%d", w.Count)
	}
	return []result.Entry{{Label: label, Text: wording.WarningText(w)}}
}
