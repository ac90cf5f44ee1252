package progress

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// plain writes one dated line for each change, for logs and for grep. A line
// says when, about whom, and what kind of thing it is; nothing is repeated.
type plain struct {
	out io.Writer
	st  style.Styles

	mu       sync.Mutex
	title    wording.Title
	begun    time.Time
	stage    string // the last line about it
	cause    string
	hint     string
	progress string
	warned   map[wording.WarningKey]repeat
	replicas map[string]v1.Stage
	closed   bool
	shown    bool
}

func newPlain(out terminal.Output, title wording.Title) *plain {
	caps := out.Capabilities
	caps.Profile = style.NoColour // lines to be searched, also where colour is forced
	return &plain{out: out, st: caps.Styles(), title: title, warned: map[wording.WarningKey]repeat{}, replicas: map[string]v1.Stage{}}
}

// Handle writes the lines that an event is worth.
func (p *plain) Handle(e v1.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	p.begin(e)
	lines := p.lines(e)
	if e.Result != nil {
		p.closed, p.shown = true, true
	}
	_, _ = io.WriteString(p.out, style.JoinLines(lines))
}

// begin notes when the first event came.
func (p *plain) begin(e v1.Event) {
	if p.begun.IsZero() {
		p.begun = e.At
	}
}

// took is how long the command worked that ends with this event.
func (p *plain) took(e v1.Event) string {
	return style.Brief(wording.Took(*e.Result, e.At.Sub(p.begun)))
}

// Stop makes it write nothing more.
func (p *plain) Stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
}

// Shown says whether the result was written.
func (p *plain) Shown() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.shown
}

func (p *plain) lines(e v1.Event) []string {
	switch {
	case e.Step != nil:
		return p.stepLines(e)
	case e.Stage != nil:
		return p.stageLines(e)
	case e.Warning != nil:
		return p.warningLines(e, *e.Warning)
	case e.Progress != nil && e.Progress.Message != p.progress:
		p.progress = e.Progress.Message
		return []string{p.line(e, "progress", p.progress)}
	case e.Result != nil:
		return p.resultLines(e)
	}
	return nil
}

func (p *plain) stepLines(e v1.Event) []string {
	kind, took := "step "+e.Step.Name, ""
	switch {
	case e.Step.State == v1.StepBegun:
		return nil
	case e.Step.State == v1.StepFailed:
		kind += " failed"
	case e.Step.Seconds > 0:
		took = " (" + style.Brief(style.Seconds(e.Step.Seconds)) + ")"
	}
	return []string{p.line(e, kind, e.Step.Message+took)}
}

// stageLines tell a stage, what it waits for, and the warnings of a reading. A
// stage one ends in is told with the result, which knows how long it took.
func (p *plain) stageLines(e v1.Event) []string {
	var lines []string
	s := *e.Stage
	if now := string(s.Stage) + ": " + s.Message; wording.IsPassing(s) && now != p.stage {
		p.stage = now
		lines = append(lines, p.line(e, "stage "+string(s.Stage), s.Message))
	}
	lines = append(lines, p.replicaLines(e, s.Replicas)...)
	for _, w := range s.Warnings {
		lines = append(lines, p.warningLines(e, w)...)
	}
	if c := wording.Lasting(s.Cause); c != nil && wording.IsPassing(s) && c.Message != p.cause {
		p.cause = c.Message
		if !wording.Known(c.Message, s.Message, s.Warnings) {
			lines = append(lines, p.line(e, "cause "+c.Code, wording.CauseText(*c)))
		}
		for _, text := range p.st.Paragraphs(p.fresh(c.Hint)) {
			lines = append(lines, p.line(e, "hint", text))
		}
	}
	return lines
}

// fresh is a hint that has not been told.
func (p *plain) fresh(hint string) string {
	if hint == p.hint {
		return ""
	}
	p.hint = hint
	return hint
}

// replicaLines tell the replicas whose stage has changed, and those that are no
// more.
func (p *plain) replicaLines(e v1.Event, rs []v1.Replica) []string {
	var lines []string
	now := make(map[string]v1.Stage, len(rs))
	for _, r := range rs {
		now[r.Name] = r.Stage
		if p.replicas[r.Name] != r.Stage {
			lines = append(lines, p.line(e, "replica "+r.Name+" "+string(r.Stage), r.Message))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.replicas)) {
		if _, there := now[name]; !there {
			lines = append(lines, p.line(e, "replica "+name+" gone", ""))
		}
	}
	p.replicas = now
	return lines
}

func (p *plain) warningLines(e v1.Event, w v1.Warning) []string {
	key := wording.KeyOf(w)
	said, ok := p.warned[key]
	if ok && !said.again(w.Count, e.At) {
		return nil
	}
	p.warned[key] = repeat{w.Count, e.At}
	kind := "warning " + w.Reason
	if w.Count > 1 {
		kind += fmt.Sprintf(" x%d", w.Count)
	}
	return []string{p.line(e, kind, wording.WarningText(w))}
}

// line is one dated line.
func (p *plain) line(e v1.Event, kind, text string) string {
	id := e.Workspace
	if id == "" {
		id = p.title.ID
	}
	head := strings.Join(strings.Fields(e.At.UTC().Format(time.RFC3339)+" "+p.st.Text(id)+" "+p.st.Text(kind)), " ")
	if text = p.st.Text(text); text == "" {
		return head
	}
	return head + ": " + text
}

// repeat is when a warning was told and with what count.
type repeat struct {
	count int
	at    time.Time
}

// repeatAfter is when a warning that still comes is told again.
const repeatAfter = 30 * time.Second

// again says whether a warning has grown enough to be told once more.
func (r repeat) again(count int, at time.Time) bool {
	return count > r.count && (count >= 2*r.count || at.Sub(r.at) >= repeatAfter)
}
