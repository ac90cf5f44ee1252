package chart

import (
	"maps"
	"reflect"
	"slices"
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

// CompareValues lists what differs between two texts of values, as "image.tag changed",
// "replicas added" or "debug removed", sorted. The values themselves may be secret.
func CompareValues(before, after []byte) []string {
	old, _ := parseValues(before, budget.New(budget.Limit)) // what cannot be read is refused elsewhere
	wanted, _ := parseValues(after, budget.New(budget.Limit))
	return compareTables("", old, wanted)
}

func compareTables(prefix string, old, wanted map[string]any) (changes []string) {
	keys := maps.Clone(old)
	if keys == nil {
		keys = map[string]any{}
	}
	maps.Copy(keys, wanted)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		was, had := old[key]
		is, has := wanted[key]
		outer, wasTable := was.(map[string]any)
		inner, isTable := is.(map[string]any)
		switch at := join(prefix, key); {
		case !had:
			changes = append(changes, at+" added")
		case !has:
			changes = append(changes, at+" removed")
		case wasTable && isTable:
			changes = append(changes, compareTables(at, outer, inner)...)
		case !reflect.DeepEqual(was, is):
			changes = append(changes, at+" changed")
		}
	}
	return changes
}
