package pod

import (
	"bytes"
	"io"
	"slices"
	"strconv"
)

// How a shell says which process it is, before all that it says: in a string that
// terminals ignore, should it ever get to one.
const (
	announceBegin = "\x1b_berth-pid "
	announceEnd   = "\x1b\\"
	announce      = `printf '\033_berth-pid %s\033\\' "$$" 2>/dev/null` + "\n"
)

// announcing is the command of a shell that says its process ID first.
func announcing(shell []string) []string {
	shell = slices.Clone(shell)
	shell[2] = announce + shell[2]
	return shell
}

// announced takes the announcement out of what a shell says.
type announced struct {
	out   io.Writer
	found func(pid int)
	held  []byte // what may be the beginning of it
	done  bool
}

// maxAnnouncement is how long one is at most.
const maxAnnouncement = len(announceBegin) + 20 + len(announceEnd)

// Write implements io.Writer.
func (a *announced) Write(p []byte) (int, error) {
	if a.done {
		return a.out.Write(p)
	}
	text := slices.Concat(a.held, p)
	before, after, pid := divide(text)
	if a.held = nil; pid > 0 {
		a.done = true
		a.found(pid)
		before = append(before, after...)
	} else {
		a.held = bytes.Clone(after)
	}
	if len(before) > 0 {
		if _, err := a.out.Write(before); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// flush writes what was taken for a beginning and was none.
func (a *announced) flush() {
	if len(a.held) > 0 {
		_, _ = a.out.Write(a.held)
		a.held = nil
	}
}

// divide gives what is before and after the announcement; without one, what is certainly
// none and what may become one.
func divide(text []byte) (before, after []byte, pid int) {
	at := bytes.Index(text, []byte(announceBegin))
	if at < 0 {
		n := min(len(text), len(announceBegin)-1)
		for !bytes.HasPrefix([]byte(announceBegin), text[len(text)-n:]) {
			n--
		}
		return text[:len(text)-n], text[len(text)-n:], 0
	}
	rest := text[at:]
	number, after, whole := bytes.Cut(rest[len(announceBegin):], []byte(announceEnd))
	pid, err := strconv.Atoi(string(number))
	switch {
	case whole && err == nil && pid > 0:
		return slices.Clone(text[:at]), after, pid
	case !whole && len(rest) < maxAnnouncement:
		return text[:at], rest, 0
	}
	return text, nil, 0
}
