package chart

import (
	"strconv"

	"sigs.k8s.io/yaml"

	"github.com/berthdev/berth/internal/bundle/chart/budget"
	"github.com/berthdev/berth/internal/fault"
)

// MergeValues makes one text of YAML of several with values, of which a later one wins:
// table by table, as Helm merges the files of --values. A single one stays as it is.
func MergeValues(texts [][]byte) ([]byte, error) {
	switch len(texts) {
	case 0:
		return nil, nil
	case 1:
		return texts[0], nil
	}
	merged, memory := map[string]any{}, budget.New(budget.Limit)
	var all []string
	for i, text := range texts {
		values, problems := parseValues(text, memory)
		for _, problem := range problems {
			all = append(all, "file "+strconv.Itoa(i+1)+" of --values: "+problem)
		}
		override(merged, values)
	}
	if len(all) > 0 {
		err := fault.New(fault.InvalidArgument, "the values cannot be read: %s", all[0])
		if len(all) > 1 {
			err.Problems = all
		}
		return nil, err.WithHint("correct the files; each is a mapping in YAML")
	}
	return yaml.Marshal(merged)
}

// override writes values over others.
func override(values, by map[string]any) {
	for key, value := range by {
		inner, is := value.(map[string]any)
		outer, was := values[key].(map[string]any)
		if is && was {
			override(outer, inner)
			continue
		}
		values[key] = value
	}
}
