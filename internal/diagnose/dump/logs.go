package dump

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/berthdev/berth/internal/pattern"
)

// Instance is a container of a pod, as it runs or, if Previous, as it was before its last restart.
type Instance struct {
	Namespace, Pod, Container string
	Previous                  bool
}

const (
	logLines = 10
	logBytes = 16 << 10 // of one log, from its end
)

const (
	// Of "oc adm inspect", which has the container twice, puts the time before each line, and has a second file where
	// the kubelet's certificate was not to be verified.
	inspected pattern.Expr = `(?:^|[/ ])namespaces/([^/]+)/pods/([^/]+)/([^/]+)/[^/]+/logs/` +
		`(current|previous)(?:\.insecure)?\.log$`
	lineStamp pattern.Expr = `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d) `
	// Of "kubectl cluster-info dump".
	logStarts pattern.Expr = `^==== START logs for container (\S+) of pod ([^/ ]+)/(\S+) ====\s*$`
	logEnds   string       = "==== END logs for container "
)

// instanceOf reads in a file's name whose log it is.
func instanceOf(file string) (of Instance, ok bool) {
	m := inspected.FindStringSubmatch(filepath.ToSlash(file))
	if m == nil {
		return Instance{}, false
	}
	return Instance{m[1], m[2], m[3], m[4] == "previous"}, true
}

// log reads the end of a file that is a log.
func (r *reader) log(s source, of Instance) {
	in := io.Reader(s.head)
	if file, ok := s.in.(*os.File); ok {
		if info, err := file.Stat(); err == nil && info.Size() > 2*logBytes {
			in = io.NewSectionReader(file, info.Size()-logBytes, logBytes)
		}
	}
	end, err := endOf(in)
	if err != nil {
		r.broken(s.file, err)
		return
	}
	r.keep(s.file, of, withoutStamps(lastLines(end)))
}

// endOf reads to the end, and keeps no more than a log has.
func endOf(in io.Reader) (end []byte, err error) {
	chunk := make([]byte, logBytes)
	for err == nil {
		var n int
		n, err = in.Read(chunk)
		end = append(end, chunk[:n]...)
		end = end[max(0, len(end)-logBytes):]
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return end, err
}

// sections keeps the logs that stand between the objects of a text; false if there are none.
func (r *reader) sections(file string, text []byte) (found bool) {
	var of Instance
	start, at := -1, 0
	for line := range bytes.Lines(text) {
		switch m := logStarts.FindSubmatch(line); {
		case m != nil && start < 0:
			of, start = Instance{Namespace: string(m[2]), Pod: string(m[3]), Container: string(m[1])}, at+len(line)
		case start >= 0 && bytes.HasPrefix(line, []byte(logEnds)):
			r.keep(file, of, lastLines(text[max(start, at-logBytes):at]))
			start, found = -1, true
		}
		at += len(line)
	}
	return found
}

// lastLines are those of the end of a log; the first line of a text that was cut may be half of one.
func lastLines(end []byte) []string {
	text := string(utf8Text(end))
	if _, rest, cut := strings.Cut(text, "\n"); cut && len(end) >= logBytes {
		text = rest
	}
	text = strings.TrimRight(text, "\n")
	if text == "" {
		return nil
	}
	lines := strings.Split(text, "\n")
	lines = slices.Clone(lines[max(0, len(lines)-logLines):])
	for i := range lines {
		lines[i] = strings.Clone(lines[i]) // or all of the text is kept
	}
	return lines
}

// withoutStamps are lines without their times, where all of them have one.
func withoutStamps(lines []string) []string {
	if slices.ContainsFunc(lines, func(line string) bool { return !lineStamp.MatchString(line) }) {
		return lines
	}
	for i, line := range lines {
		_, lines[i], _ = strings.Cut(line, " ")
	}
	return lines
}

// keep adds the last lines of a log, as far as the limit allows.
func (r *reader) keep(file string, of Instance, lines []string) {
	if len(lines) == 0 || r.used.logs > r.limits.logs {
		return
	}
	for _, line := range lines {
		r.used.logs += int64(len(line))
	}
	if r.used.logs > r.limits.logs {
		r.problem(file, 0, "the dump has more logs than are kept: the rest of them was not read")
		return
	}
	if r.logs == nil {
		r.logs = map[Instance][]string{}
	}
	r.logs[of] = lines
}
