package chart

import (
	"slices"
	"strings"
	"testing"
)

func TestMergeValues(t *testing.T) {
	for name, c := range map[string]struct {
		texts []string
		want  string
	}{
		"none":                   {nil, ""},
		"one, with its comments": {[]string{"a: 1 # why\n"}, "a: 1 # why\n"},
		"the later one wins":     {[]string{"{a: 1, b: 1}", "a: 2"}, "a: 2\nb: 1\n"},
		"tables are merged": {
			[]string{"a: {b: 1, c: {d: 1}}", "a: {c: {e: 2}}"},
			"a:\n  b: 1\n  c:\n    d: 1\n    e: 2\n",
		},
		"lists are not":            {[]string{"a: [1, 2]", "a: [3]"}, "a:\n- 3\n"},
		"a table gives way":        {[]string{"a: {b: 1}", "a: 1", "a: {c: 1}"}, "a:\n  c: 1\n"},
		"null takes a default out": {[]string{"a: {b: 1}", "a: {b: null}"}, "a:\n  b: null\n"},
		"an empty file":            {[]string{"a: 1", ""}, "a: 1\n"},
	} {
		var texts [][]byte
		for _, text := range c.texts {
			texts = append(texts, []byte(text))
		}
		if got, err := MergeValues(texts); err != nil || string(got) != c.want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if _, err := MergeValues([][]byte{[]byte("a: 1"), []byte("- a"), []byte("a: [")}); err == nil ||
		!strings.Contains(err.Error(), "file 2 of --values: values: must be a mapping") {
		t.Errorf("%v", err)
	}
}

func TestCompareValues(t *testing.T) {
	for name, c := range map[string]struct {
		before, after string
		want          []string
	}{
		"nothing":            {"", "", nil},
		"the same":           {"a: 1\nb: {c: x}", "b: {c: x}\na: 1", nil},
		"added and removed":  {"a: 1", "b: 1", []string{"a removed", "b added"}},
		"inside a table":     {"image: {tag: v1, name: x}", "image: {tag: v2, name: x}", []string{"image.tag changed"}},
		"a table by a value": {"a: {b: 1}", "a: 1", []string{"a changed"}},
		"all of them":        {"a: 1\nb: {c: 2}", "", []string{"a removed", "b removed"}},
		"from nothing":       {"", "a: 1", []string{"a added"}},
	} {
		if got := CompareValues([]byte(c.before), []byte(c.after)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
