package provision

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/userstring"
)

// maxFileSize is far more than anybody follows.
const maxFileSize = 1 << 20

const fileHint = "one user string per line, such as alice~dev, or a YAML or JSON list of them"

// entry is what one line of a file asks for, as it was written.
type entry struct {
	line int
	text string
	// problem is set if the line has no user string at all.
	problem string
}

// readFile reads the user strings of a file, or of standard input.
func readFile(path string, stdin io.Reader) ([]userstring.UserString, error) {
	name, source := "standard input", stdin
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return nil, fault.New(fault.InvalidArgument, "cannot read the user strings: %w", err).WithHint(fileHint)
		}
		defer file.Close()
		name, source = path, file
	}
	content, err := io.ReadAll(io.LimitReader(source, maxFileSize+1))
	switch {
	case err != nil:
		return nil, fault.New(fault.InvalidArgument, "cannot read the user strings: %s: %w", name, err).
			WithHint(fileHint)
	case len(content) > maxFileSize:
		return nil, fault.New(fault.InvalidArgument, "%s is larger than %d MiB", name, maxFileSize>>20).
			WithHint(fileHint)
	}
	return parseFile(name, content)
}

// parseFile parses the user strings of a file, and reports all that is wrong with
// them together.
func parseFile(name string, content []byte) ([]userstring.UserString, error) {
	text := strings.TrimPrefix(string(content), "\uFEFF")
	read := readLines
	if isList(text) {
		read = readList
	}
	entries, err := read(text)
	if err != nil {
		return nil, fault.New(fault.InvalidArgument, "%s: %w", name, err).WithHint(fileHint)
	}
	users, problems := parseEntries(entries)
	switch {
	case len(problems) > 0:
		err := fault.New(fault.InvalidArgument, "%s: %d of %d user strings are invalid; nothing was provisioned", name,
			len(problems), len(entries))
		err.Problems = problems
		return nil, err.WithHint("see `berth help user-strings`")
	case len(users) == 0:
		return nil, fault.New(fault.InvalidArgument, "%s contains no user strings", name).WithHint(fileHint)
	}
	return users, nil
}

// parseEntries finds those that are not user strings, that cannot be provisioned,
// and that name a workspace that another one has named.
func parseEntries(entries []entry) (users []userstring.UserString, problems []string) {
	first := map[string]entry{}
	for _, e := range entries {
		u, problem := e.parse()
		if problem == "" {
			before, twice := first[u.Key()]
			if !twice {
				first[u.Key()] = e
				users = append(users, u)
				continue
			}
			problem = fmt.Sprintf("%q is the same workspace as %q on line %d", e.text, before.text, before.line)
		}
		problems = append(problems, fmt.Sprintf("line %d: %s", e.line, problem))
	}
	return users, problems
}

func (e entry) parse() (userstring.UserString, string) {
	if e.problem != "" {
		return userstring.UserString{}, e.problem
	}
	u, err := cmdutil.ParseUser(e.text)
	if err != nil {
		return u, fault.From(err).Message
	}
	return u, ""
}

// readLines reads one user string per line. A # begins a comment at the beginning
// of a line or after a blank: inside a user string it may be part of a name.
func readLines(text string) ([]entry, error) {
	var entries []entry
	number := 0
	for line := range strings.Lines(text) {
		number++
		if line = uncomment(line); line != "" {
			entries = append(entries, entry{line: number, text: line})
		}
	}
	return entries, nil
}

func uncomment(line string) string {
	line = strings.TrimSpace(line)
	for i, r := range line {
		if r == '#' && (i == 0 || line[i-1] == ' ' || line[i-1] == '\t') {
			return strings.TrimSpace(line[:i])
		}
	}
	return line
}
