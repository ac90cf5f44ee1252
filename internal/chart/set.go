package chart

import (
	"strconv"

	"helm.sh/helm/v3/pkg/strvals"
	"sigs.k8s.io/yaml"

	"github.com/berthdev/berth/internal/chart/budget"
	"github.com/berthdev/berth/internal/fault"
)

// Set are single values, as Helm's flags of these names have them: "image.tag=v2,ports[0]=80".
type Set struct {
	// JSON are values of JSON; Values are numbers, true, false or null where they look like it; Strings never are;
	// Files are paths of files whose text is the value.
	JSON, Values, Strings, Files []string
}

// IsZero says whether nothing is set.
func (s Set) IsZero() bool { return len(s.JSON)+len(s.Values)+len(s.Strings)+len(s.Files) == 0 }

// Over sets the values over those of a text of YAML, in Helm's order: JSON first, then plain ones, strings and files.
// Read reads a file. All problems are reported together.
func (s Set) Over(text []byte, read func(path string) ([]byte, error)) ([]byte, error) {
	if s.IsZero() {
		return text, nil
	}
	values, problems := parseValues(text, budget.New(budget.Limit))
	set := func(flag string, all []string, into func(one string) error) {
		for _, one := range all {
			if err := into(one); err != nil {
				problems = append(problems, flag+" "+strconv.Quote(fault.Shorten(one, maxSetShown))+": "+err.Error())
			}
		}
	}
	set("--set-json", s.JSON, func(one string) error { return strvals.ParseJSON(one, values) })
	set("--set", s.Values, func(one string) error { return strvals.ParseInto(one, values) })
	set("--set-string", s.Strings, func(one string) error { return strvals.ParseIntoString(one, values) })
	set("--set-file", s.Files, func(one string) error {
		return strvals.ParseIntoFile(one, values, func(path []rune) (any, error) {
			content, err := read(string(path))
			return string(content), err
		})
	})
	if len(problems) > 0 {
		err := fault.New(fault.InvalidArgument, "the values cannot be set: %s", problems[0])
		if len(problems) > 1 {
			err.Problems = problems
		}
		return nil, err
	}
	return yaml.Marshal(values)
}

// maxSetShown is how much of a flag's value is shown, in bytes.
const maxSetShown = 60
