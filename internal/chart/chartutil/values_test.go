package chartutil

import (
	"fmt"
	"testing"
)

// A path leads through tables to a value, and its error names the first part that does not.
func TestPathValue(t *testing.T) {
	v := Values{
		"top": "a",
		"table": map[string]any{
			"value": 1, "nothing": nil, "below": map[string]any{"value": true},
		},
	}
	for path, want := range map[string]string{
		"top":               "a",
		"table.value":       "1",
		"table.nothing":     "<nil>",
		"table.below.value": "true",
		"table.below":       `"below" is not a value`,
		"table":             `"table" is not a value`,
		"missing":           `"missing" is not a value`,
		"top.value":         `"top" is not a table`,
		"missing.a.b":       `"missing" is not a table`,
		"table.value.more":  `"value" is not a table`,
		"table.missing":     `"missing" is not a value`,
	} {
		value, err := v.PathValue(path)
		got := fmt.Sprint(value)
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}
