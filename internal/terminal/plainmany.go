package terminal

import (
	"fmt"
	"io"
	"strings"
	"sync"

	v1 "github.com/berthdev/berth/api/v1"
)

// plainMany writes dated lines about several workspaces, each with the ID of
// the one that it is about.
type plainMany struct {
	out   io.Writer
	crowd *crowd
	all   *plain // for lines about all of them
	each  map[string]*plain

	mu     sync.Mutex
	closed bool
	shown  bool
}

func newPlainMany(out Output, b Batch) *plainMany {
	p := &plainMany{out: out, crowd: newCrowd(b), all: newPlain(out, Title{}), each: map[string]*plain{}}
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
		e = alone(e)
		one.model.handle(e)
		lines = one.outcome(e, *e.Result)
	case one != nil:
		one.model.handle(e)
		lines = one.lines(e)
	}
	_, _ = io.WriteString(p.out, joinLines(lines))
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
		return errorLines(*e.Result.Error, p.all.st)
	}
	s, ok := p.crowd.batch.endings(*e.Result)
	if !ok {
		return nil
	}
	t := p.crowd.tally(s)
	head, rest := t.headline(brief(seconds(s.seconds)))
	lines := []string{p.all.line(e, "summary", strings.TrimSuffix(head+", "+rest, ", "))}
	for _, f := range p.crowd.failures(s) {
		for _, title := range f.titles {
			one := e
			one.Workspace = title.ID
			lines = append(lines, p.all.line(one, "summary "+f.err.Code, fmt.Sprintf("%s: %s", title.target(), strings.Join(strings.Fields(f.cause), " "))))
			for _, text := range p.all.st.paragraphs(f.err.Hint) {
				lines = append(lines, p.all.line(one, "hint", text))
			}
			for _, c := range nextOf(title, f.err) {
				lines = append(lines, p.all.line(one, "next", c.line))
			}
		}
	}
	for _, c := range p.crowd.next(t) {
		lines = append(lines, p.all.line(e, "next", c.line))
	}
	return lines
}
