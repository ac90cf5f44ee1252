package commands

import (
	"fmt"
	"strings"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/provision"
	"github.com/berthdev/berth/internal/userstring"
)

// wish is what one line of a batch asks for, as it was written.
type wish struct {
	line int
	text string
	// problem is set where the line is no user string at all.
	problem string
}

// batchExample is what a hint shows.
const batchExample = "one user string a line, such as alice~dev; or a YAML or JSON list of them"

// parseBatch reads the user strings of a file. What can be known to be wrong
// with any of them is reported together.
func parseBatch(name string, content []byte) ([]userstring.UserString, error) {
	text := strings.TrimPrefix(string(content), "\uFEFF")
	read := readLines
	if isList(text) {
		read = readList
	}
	wishes, err := read(text)
	if err != nil {
		return nil, fault.New(fault.InvalidArgument, "%s: %w", name, err).WithHint(batchExample)
	}
	users, problems := understand(wishes)
	switch {
	case len(problems) > 0:
		err := fault.New(fault.InvalidArgument, "%s: %d of %d user strings cannot be provisioned; nothing has been done", name, len(problems), len(wishes))
		err.Problems = problems
		return nil, err.WithHint("see `berth help user-strings`")
	case len(users) == 0:
		return nil, fault.New(fault.InvalidArgument, "%s names no workspace", name).WithHint(batchExample)
	}
	return users, nil
}

// understand parses what was written and finds what is wrong with it: no user
// string, one that cannot be provisioned, a workspace that is there already.
func understand(wishes []wish) (users []userstring.UserString, problems []string) {
	first := map[string]wish{}
	for _, w := range wishes {
		u, problem := w.parse()
		if problem == "" {
			before, twice := first[u.Key()]
			if !twice {
				first[u.Key()] = w
				users = append(users, u)
				continue
			}
			problem = fmt.Sprintf("%q is the same workspace as %q on line %d", w.text, before.text, before.line)
		}
		problems = append(problems, fmt.Sprintf("line %d: %s", w.line, problem))
	}
	return users, problems
}

func (w wish) parse() (userstring.UserString, string) {
	if w.problem != "" {
		return userstring.UserString{}, w.problem
	}
	u, err := userstring.Parse(w.text)
	if err == nil {
		err = provision.Supported(u)
	}
	if err != nil {
		return u, strings.Join(strings.Fields(fault.From(err).Message), " ")
	}
	return u, ""
}

// readLines reads one user string a line. What stands behind a # is a comment,
// at the beginning of a line or after a blank: inside a user string it may be
// part of a name.
func readLines(text string) ([]wish, error) {
	var wishes []wish
	number := 0
	for line := range strings.Lines(text) {
		number++
		if line = uncomment(line); line != "" {
			wishes = append(wishes, wish{line: number, text: line})
		}
	}
	return wishes, nil
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
