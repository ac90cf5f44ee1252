package yamldoc

import (
	"fmt"
	"slices"
	"testing"
)

// Each document comes with the number of lines in front of it.
func TestDocuments(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"nothing":        {"", nil},
		"comments alone": {"# a\n---\n# b\n", nil},
		"one":            {"a: 1\n", []string{`0 "a: 1\n"`}},
		"several": {
			"a: 1\n---\nb: 2\n--- # c\nc: 3",
			[]string{`0 "a: 1\n"`, `1 "---\nb: 2\n"`, `3 "--- # c\nc: 3"`},
		},
		"ended":                {"a: 1\n...\nb: 2\n", []string{`0 "a: 1\n"`, `2 "b: 2\n"`}},
		"in a line":            {"a: ---\n----\n", []string{`0 "a: ---\n----\n"`}},
		"line ends of Windows": {"a: 1\r\n---\r\nb: 2\r\n", []string{`0 "a: 1\r\n"`, `1 "---\r\nb: 2\r\n"`}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for before, document := range Documents([]byte(c.text)) {
				got = append(got, fmt.Sprintf("%d %q", before, document))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}
