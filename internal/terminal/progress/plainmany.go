package progress

import (
	"fmt"
	"io"
	"strings"
	"sync"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// plainMany writes dated lines about several workspaces, each with the ID of
// the one that it is about.
type plainMany struct {
	out   io.Writer
	batch wording.Batch
	all   *plain // for lines about all of them
	each  map[string]*plain

	mu     sync.Mutex
	closed bool
	shown  bool
}

func newPlainMany(out terminal.Output, b wording.Batch) *plainMany {
	p := &plainMany{out: out, batch: b, all: newPlain(out, wording.Title{}), each: map[string]*plain{}}
	for _, title := range b.Members {
		p.each[title.ID] = newPlain(out, title)
	}
	return p
}

// Handle writes the lines that an event is worth.
func (p *plainMany) Handle(e v1.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	var lines []string
	one := p.each[e.Workspace]
	switch {
	case e.Result != nil:
		lines = p.summary(e)
		p.closed, p.shown = true, true
	case one != nil && e.Outcome != nil:
		e = wording.Alone(e)
		one.begin(e)
		lines = one.outcome(e, *e.Result)
	case one != nil:
		one.begin(e)
		lines = one.lines(e)
	}
	_, _ = io.WriteString(p.out, style.JoinLines(lines))
}

// Stop makes it write nothing more.
func (p *plainMany) Stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
}

// Shown says whether the result was written.
func (p *plainMany) Shown() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.shown
}

// outcome tells how one of several ended. What to do about it is said at the
// end of all, where it is looked for.
func (p *plain) outcome(e v1.Event, r v1.Result) []string {
	switch {
	case r.Error != nil:
		err := *r.Error
		err.Hint = ""
		return p.failureLines(e, err)
	case r.Workspace != nil:
		return p.successLines(e, *r.Workspace)
	case r.Deletion != nil:
		return p.deletionLines(e, *r.Deletion)
	}
	return nil
}

// summary counts, and repeats of each failure its cause and what to do.
func (p *plainMany) summary(e v1.Event) []string {
	if e.Result.Error != nil {
		return wording.ErrorLines(*e.Result.Error, p.all.st)
	}
	s, ok := p.batch.Endings(*e.Result)
	if !ok {
		return nil
	}
	t := p.batch.Tally(s)
	head, rest := t.Headline(style.Brief(style.Seconds(s.Seconds)))
	lines := []string{p.all.line(e, "summary", strings.TrimSuffix(head+", "+rest, ", "))}
	for _, f := range s.Failures() {
		for _, title := range f.Titles {
			one := e
			one.Workspace = title.ID
			lines = append(lines, p.all.line(one, "summary "+f.Err.Code, fmt.Sprintf("%s: %s", title.Target(), strings.Join(strings.Fields(f.Cause), " "))))
			for _, text := range p.all.st.Paragraphs(f.Err.Hint) {
				lines = append(lines, p.all.line(one, "hint", text))
			}
			for _, c := range wording.NextOf(title, f.Err) {
				lines = append(lines, p.all.line(one, "next", c.Line))
			}
		}
	}
	for _, c := range p.batch.Next(t) {
		lines = append(lines, p.all.line(e, "next", c.Line))
	}
	return lines
}
