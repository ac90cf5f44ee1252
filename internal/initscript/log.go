// Package initscript knows what the init scripts of a workspace do from the log of the
// container that runs them: the shell runtime says in it when each begins and how it
// ends. It is all that somebody can see who may read pods and their logs.
package initscript

import (
	"strconv"
	"strings"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/pattern"
)

// Log is what a log has said so far. It is fed line by line; the zero value has read
// nothing.
//
// The scripts write to the same log, and can write what the runtime would. So a line counts
// only where it can be the runtime's: a script begins when the one before has ended, and ends
// once. A script can lie about itself and those after it, which it can also keep from being run,
// and not about those before it: the platform's come before those of a repository.
type Log struct {
	scripts []v1.Script
	total   int  // what the runtime has announced
	begun   bool // it has said that it starts, so that the log has its beginning
	ready   bool
}

// News is what a line has said.
type News int

// What a line can say: nothing, something that a script has written, or that a script has
// begun or come to its end.
const (
	Nothing News = iota
	Output
	Step
)

const (
	// mostScripts is how many there can be: 99 of a blueprint, and the one that brings the
	// repository.
	mostScripts = 100
	// lastLines and lineLength are how much of what a script says is kept.
	lastLines  = 10
	lineLength = 500
)

// The runtime's lines (runtime/start.sh of the chart). What a script has written without an
// end of line stands before them.
const (
	ofScript pattern.Expr = `workspace: init script ([0-9]{1,3})/([0-9]{1,3}) ([A-Za-z0-9_][-._A-Za-z0-9]{0,62}) ` +
		`(started|skipped|ended with status ([0-9]{1,3}))$`
	isStart pattern.Expr = `workspace: starting$`
	isReady pattern.Expr = `workspace: ready$`
)

// repository is what the script is called that brings the repository into the home directory.
const repository = "repository"

// Line reads the next line, which may begin with its time as Kubernetes writes it.
func (l *Log) Line(line string) News {
	at, text := stamped(strings.TrimRight(line, "\r\n"))
	running := l.running()
	if said := ofScript.FindStringSubmatchIndex(text); said != nil {
		part := func(i int) string { return text[said[2*i]:said[2*i+1]] }
		number, _ := strconv.Atoi(part(1))
		total, _ := strconv.Atoi(part(2))
		name, what := part(3), part(4)
		if strings.HasPrefix(name, "k8shell.") { // no other script has such a name
			name = repository
		}
		s := v1.Script{Name: name, Number: number, At: at}
		switch {
		case running != nil && strings.HasPrefix(what, "ended") && running.Name == name && running.Number == number &&
			l.total == total:
			code, _ := strconv.Atoi(part(5))
			running.says(text[:said[0]])
			running.ended(at, code)
			return Step
		case running == nil && !strings.HasPrefix(what, "ended") && l.isNext(number, total):
			l.begin(s, total, what == "skipped")
			return Step
		}
	}
	switch {
	case running != nil:
		running.says(text)
		return Output
	case isStart.MatchString(text):
		l.begun = true
	case isReady.MatchString(text):
		// Without the beginning of the log, it is not known that there are no scripts.
		l.ready = len(l.scripts) == l.total && (l.total > 0 || l.begun)
	}
	return Nothing
}

// isNext says whether the next script can be this one of so many.
func (l *Log) isNext(number, total int) bool {
	return !l.ready && number == len(l.scripts)+1 && number <= total && total <= mostScripts &&
		(l.total == 0 || l.total == total)
}

func (l *Log) begin(s v1.Script, total int, skipped bool) {
	l.total, s.State = total, v1.ScriptRunning
	if skipped {
		s.State, s.At = v1.ScriptSkipped, time.Time{}
	}
	l.scripts = append(l.scripts, s)
}

// running is the script that runs; nil if none does.
func (l *Log) running() *script {
	if len(l.scripts) == 0 || l.scripts[len(l.scripts)-1].State != v1.ScriptRunning {
		return nil
	}
	return (*script)(&l.scripts[len(l.scripts)-1])
}

// Ready is true once all scripts have come to their end.
func (l *Log) Ready() bool { return l.ready }

// Last is the script that was last spoken of: while it runs, with the last line that it has
// written. There has to be one.
func (l *Log) Last() v1.Script { return shown(l.scripts[len(l.scripts)-1]) }

// Scripts are those that have begun, in their order.
func (l *Log) Scripts() []v1.Script {
	var all []v1.Script
	for _, s := range l.scripts {
		all = append(all, shown(s))
	}
	return all
}

// shown is a script with as much of its output as there is to see of one in its state.
func shown(s v1.Script) v1.Script {
	lines := s.Lines
	switch {
	case s.State == v1.ScriptRunning && len(lines) > 0:
		lines = lines[len(lines)-1:]
	case s.State != v1.ScriptFailed:
		lines = nil
	}
	s.Lines = append([]string(nil), lines...) // what is kept goes on changing
	return s
}

// script is one that runs.
type script v1.Script

// says keeps one of its lines. Of one that it has written over and over, as progress is
// shown, that is the last version.
func (s *script) says(text string) {
	text = strings.TrimRight(text, "\r ")
	text = text[strings.LastIndexByte(text, '\r')+1:]
	if text = short(text); strings.TrimSpace(text) == "" {
		return
	}
	if len(s.Lines) == lastLines {
		s.Lines = s.Lines[:copy(s.Lines, s.Lines[1:])]
	}
	s.Lines = append(s.Lines, text)
}

func (s *script) ended(at time.Time, code int) {
	if s.State = v1.ScriptDone; code != 0 {
		s.State, s.ExitCode = v1.ScriptFailed, &code
	}
	if took := at.Sub(s.At); !s.At.IsZero() && took > 0 {
		s.Seconds = took.Round(time.Millisecond).Seconds()
	}
}

// short cuts a line to what is kept of it.
func short(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= lineLength {
		return text
	}
	return strings.ToValidUTF8(text[:lineLength-len("…")], "") + "…"
}

// stamped is a line without the time that Kubernetes has put in front.
func stamped(line string) (at time.Time, text string) {
	stamp, text, found := strings.Cut(line, " ")
	at, err := time.Parse(time.RFC3339Nano, stamp)
	if !found || err != nil {
		return time.Time{}, line
	}
	return at.UTC(), text
}
