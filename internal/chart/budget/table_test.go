package budget

import (
	"slices"
	"strings"
	"testing"
	"text/template/parse"
)

// No function is in two rows, of which the first would count for nothing.
func TestRowsAreDistinct(t *testing.T) {
	seen := map[string]bool{}
	for _, row := range rows() {
		for name := range strings.FieldsSeq(row.names) {
			if seen[name] {
				t.Errorf("%s has two bounds", name)
			}
			seen[name] = true
		}
	}
}

// What text/template brings along either has a bound, as it is replaced, or is known to make
// nothing. Names that it does not know are no functions.
func TestBuiltins(t *testing.T) {
	table := Table()
	for _, name := range []string{
		"and", "call", "html", "index", "slice", "js", "len", "not", "or", "print", "printf",
		"println", "urlquery", "eq", "ge", "gt", "le", "lt", "ne",
	} {
		if table[name] == nil && !slices.Contains(builtins(), name) {
			t.Errorf("%s has no bound", name)
		}
	}
	for _, name := range builtins() {
		if _, err := parse.Parse("a", "{{"+name+"}}", "", "", map[string]any{}); err == nil {
			t.Errorf("%s is parsed without being a function", name)
		}
		if table[name] != nil {
			t.Errorf("%s has a bound that nobody asks for", name)
		}
	}
}

// builtins are the functions of text/template that it calls itself and nobody can bound: they
// give a number, a boolean, or a part of what they were given, and print nothing of it.
func builtins() []string {
	return strings.Fields("and or not lt le gt ge index len call")
}
