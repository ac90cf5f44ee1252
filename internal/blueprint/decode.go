package blueprint

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/berthdev/berth/internal/fault"
)

// yamlProblems turns an error of the decoder into lines file:line: what.
func yamlProblems(file string, err error) (problems []string) {
	if typeErr, ok := errors.AsType[*yaml.TypeError](err); ok {
		for _, e := range typeErr.Errors {
			line, what := cutLine(e)
			problems = append(problems, fmt.Sprintf("%s:%d: %s", file, line, plain(what)))
		}
		return problems
	}
	return []string{file + ": " + strings.TrimPrefix(err.Error(), "yaml: ")}
}

// cutLine splits the decoder's "line N: what".
func cutLine(text string) (line int, what string) {
	if _, err := fmt.Sscanf(text, "line %d:", &line); err != nil {
		return 0, text
	}
	_, what, _ = strings.Cut(text, ": ")
	return line, what
}

// plain says in a user's words what the decoder says in Go's.
func plain(text string) string {
	_, text, ok := cutField(text)
	if ok {
		return text
	}
	for from, to := range map[string]string{
		"into map[string]string": "where a mapping of texts is expected", "into string": "where a text is expected",
		"into bool": "where true or false is expected", "into []blueprint.InitScript": "where a list is expected",
		"into blueprint.Resources": "where a mapping is expected", "into map[string]blueprint.Storage": "where a mapping is expected",
		"cannot unmarshal !!": "found a ",
	} {
		text = strings.ReplaceAll(text, from, to)
	}
	return text
}

func cutField(text string) (field, message string, ok bool) {
	_, what := cutLine(text)
	rest, found := strings.CutPrefix(what, "field ")
	field, _, ok = strings.Cut(rest, " not found in type")
	if !found || !ok {
		return "", text, false
	}
	if slices.Contains(later(), field) {
		return field, fmt.Sprintf("field %q is not supported by this version of berth yet", field), true
	}
	return field, fmt.Sprintf("field %q does not exist", field), true
}

// later are the fields of blueprints that other parts of the platform know and
// this version does not act upon. They are refused: a workspace without the
// network policy that its blueprint asks for is not what was asked for.
func later() []string {
	return []string{
		"k8shelld", "podman", "network", "apps", "enableApps", "splash", "subdomain",
		"id", "existingClaim", "fsOwnerUid", "fsOwnerGid", "claimSpecAnnotations",
	}
}

func invalid(problems []string) error {
	err := fault.New(fault.InvalidArgument, "the blueprints have %s", count(len(problems), "problem"))
	err.Problems = problems
	return err.WithHint("mend the lines named above; the fields are described in docs/blueprints.md")
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
