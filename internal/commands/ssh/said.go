package ssh

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// log is what a command of berth says while it waits for a workspace: dated lines, and an error in the end. What keeps
// the workspace back is passed on as soon as it is known.
type log struct {
	say func(string) // to whoever waits

	rest  []byte // a line that has not ended
	last  string // the end of all of it
	told  []string
	error string // the one that it has ended with
	hints []string
}

var (
	dated = regexp.MustCompile(`^\d{4}-\d\d-\d\dT[0-9:]+Z \S+ (cause|error|hint|stuck)(?: (\w+))?: (.*)$`)
	// howLong begins the error of a command that has waited: what came of it, and when.
	howLong = regexp.MustCompile(`^[a-z ]+ after [0-9][0-9a-zµ.]*: `)
)

// Write implements io.Writer.
func (l *log) Write(p []byte) (int, error) {
	l.last += string(p)
	l.last = l.last[max(0, len(l.last)-maxSaid):]
	l.rest = append(l.rest, p...)
	for {
		line, rest, whole := bytes.Cut(l.rest, []byte("\n"))
		if !whole {
			return len(p), nil
		}
		l.rest = rest
		l.line(strings.TrimRight(string(line), "\r"))
	}
}

func (l *log) line(line string) {
	found := dated.FindStringSubmatch(line)
	if found == nil {
		return
	}
	kind, code, text := found[1], found[2], found[3]
	switch kind {
	case "cause":
		l.tell("berth: " + code + ": " + text)
	case "stuck":
		if text == wording.StuckText {
			l.tell("berth: " + text)
		}
	case "error":
		if l.error == "" {
			l.error = howLong.ReplaceAllString(text, "")
		}
	case "hint":
		if l.error != "" {
			l.hints = append(l.hints, text)
		} else {
			l.tell("hint: " + text)
		}
	}
}

// tell passes a line on, once.
func (l *log) tell(line string) {
	if !slices.Contains(l.told, line) {
		l.told = append(l.told, line)
		l.say(line + "\n")
	}
}

// fault is the error of the command, with what helps, unless that has been told. The flags say which cluster is meant.
func (l *log) fault(workspace string, flags []string) error {
	why, hints := l.error, slices.Clone(l.hints)
	if why == "" {
		why, hints = lastError(l.last), nil
	}
	hints = slices.DeleteFunc(hints, func(hint string) bool { return slices.Contains(l.told, "hint: "+hint) })
	hint := strings.TrimSuffix(strings.Join(hints, " "), ".")
	if hint != "" {
		hint += "; "
	}
	hint += "see what keeps it back: " +
		strings.Join(append([]string{fault.Command("berth", "diagnose", workspace)}, flags...), " ")
	message := strings.TrimSuffix(strings.TrimSpace("workspace "+workspace+" cannot be entered: "+why), ":")
	return fault.New(fault.Failed, "%s", message).WithHint("%s", hint)
}

// lastError is the error with which a command of berth has ended: one line, without its code. Without one it is the end
// of what was said.
func lastError(said string) string {
	const begins = "error:"
	at := strings.LastIndex("\n"+said, "\n"+begins)
	if at < 0 {
		return strings.TrimSpace(said[max(0, len(said)-maxSaid):])
	}
	text, _, _ := strings.Cut(said[at+len(begins):], "\n")
	if open := strings.LastIndex(text, " ("); open > 0 && strings.HasSuffix(text, ")") {
		text = text[:open]
	}
	return strings.TrimSpace(text)
}

// maxSaid is how much of what a command says is passed on, in bytes.
const maxSaid = 4 << 10
