package catalog

import (
	"slices"
	"strings"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/yamldoc"
)

// invalid is the error of blueprints with problems, and of one that is not in the set: a user's own.
func (s *Set) invalid(problems []yamldoc.Problem, own entry) error {
	lines := yamldoc.Report(problems, func(file string) []byte {
		if own.custom && own.file == file {
			return own.text
		}
		return s.texts[file]
	})
	if own.commit == "" {
		return invalid("invalid blueprints", lines)
	}
	return invalid("invalid blueprints, at commit "+own.commit[:min(len(own.commit), shortCommit)], lines)
}

// shortCommit is how much of a hash tells commits apart.
const shortCommit = 12

func invalid(message string, problems []string) error {
	return withProblems(message, problems).
		WithHint("correct the lines above; docs/blueprints.md describes the fields")
}

// invalidFlags is the error of overrides with problems.
func invalidFlags(problems []string) error {
	return withProblems("invalid flags", problems).
		WithHint("flags can set the fields of a custom blueprint: %s; see docs/blueprints.md",
			strings.Join(settable(), ", "))
}

func withProblems(message string, problems []string) *fault.Error {
	noun := "problems"
	if len(problems) == 1 {
		noun = "problem"
	}
	err := fault.New(fault.InvalidArgument, "%s: %d %s", message, len(problems), noun)
	err.Problems = problems
	return err
}

// subject is the path that a problem begins with.
func subject(problem string) string {
	path, _, _ := strings.Cut(problem, ": ")
	return path
}

// about reports whether a problem is about one of the paths, or about something that contains one of them.
func about(problem string, paths []string) bool {
	return slices.ContainsFunc(paths, func(path string) bool {
		rest, ok := strings.CutPrefix(path, subject(problem))
		return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
	})
}

// shorten shortens a text that only has to be recognized.
func shorten(text string, length int) string {
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > length {
		return string(runes[:length-1]) + "…"
	}
	return text
}
