package yamldoc

import (
	"fmt"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// bomb has n levels, each of which repeats the one before it ten times.
func bomb(n int) string {
	var b strings.Builder
	b.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < n; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 10),
			", "))
	}
	return b.String()
}

func nested(n int) string { return strings.Repeat("[", n) + "x" + strings.Repeat("]", n) }

func TestReadRefuses(t *testing.T) {
	for name, test := range map[string]struct{ raw, want string }{
		"an alias bomb":             {bomb(9), "f.yaml:1:1: larger than 4 MiB with its aliases expanded"},
		"an alias inside of itself": {"a:\n  b: &x\n    c: *x\n", `f.yaml:3:8: alias "x" refers to itself`},
		"what is too deep": {
			nested(MaxDepth + 1),
			fmt.Sprintf("f.yaml:1:%d: nested more than 64 levels deep", MaxDepth+2),
		},
		"what is too deep by aliases": {"a: &a " + nested(40) + "\nb: " + strings.Repeat("[", 40) + "*a" +
			strings.Repeat("]", 40), "f.yaml:1:4: nested more than 64 levels deep"},
		"a file that is too large":      {"a: " + strings.Repeat("x", MaxFile), "f.yaml: larger than 1 MiB"},
		"more nodes than anybody needs": {strings.Repeat("-\n", limits().Marks+1), "f.yaml: too many values"},
		"a second document":             {"a: 1\n---\nb: 2\n", "f.yaml:2: more than one document"},
		"no YAML":                       {"a: 1\nb: [\n", "f.yaml:2:1: a value is missing, or a bracket is not closed"},
	} {
		top, problems := Read("f.yaml", []byte(test.raw))
		if top != nil || len(problems) != 1 || problems[0].String() != test.want {
			t.Errorf("%s: %q, want %q", name, problems, test.want)
		}
	}
}

// A text that is no YAML is reported where it goes wrong, not where the mapping begins that it goes wrong in.
func TestSyntaxErrors(t *testing.T) {
	for name, test := range map[string]struct{ raw, want string }{
		"a line too far to the left": {
			"blueprints:\n  - name: a\n    image: x\n   env: {}\n",
			"f.yaml:4:4: this does not belong to the list above: check its indentation",
		},
		"a line too far to the right": {
			"blueprints:\n  - name: a\n    image: x\n      env: {}\n",
			`f.yaml:4:7: a second ": " in one line, or a wrong indentation`,
		},
		"a tab": {
			"blueprints:\n  - name: a\n\timage: x\n",
			"f.yaml:3:1: indented with a tab: use spaces",
		},
		"a tab behind spaces": {"a:\n  \tb: 1\n", "f.yaml:2:3: indented with a tab: use spaces"},
		"a tab at once":       {"\ta: 1\n", "f.yaml:1:1: indented with a tab: use spaces"},
		"a list that is not closed": {
			"a: 1\nb: [1,\n 2\nc: 3\n",
			"f.yaml:4:1: a list in [ ] is not closed, or a comma is missing; it begins on line 2",
		},
		"a mapping that is not": {
			"a: 1\nb: {c: 1\nd: 3\n",
			"f.yaml:3:1: a mapping in { } is not closed, or a comma is missing; it begins on line 2",
		},
		"a quote that is not closed": {
			"a: 1\nb: \"x\nc: 3\nd: 4\n",
			"f.yaml:2:1: the quote that begins here is not closed",
		},
		"a second colon":         {"a: 1\nb: x: y\n", `f.yaml:2:1: a second ": " in one line`},
		"a text without a colon": {"a: 1\nb\nc: 3\n", "f.yaml:2:1: expected KEY: VALUE"},
		"a character":            {"a: 1\nb: @x\n", "f.yaml:2:1: a value cannot begin with this character"},
		"an anchor": {
			"a: 1\nb: *x\n",
			"f.yaml:2:1: unknown anchor (quote a value that begins with *) 'x' referenced",
		},
		"a text behind a quote": {
			"a: 1\nb: 'it's'\nc: 3\n",
			"f.yaml:2:1: this does not belong here: check its indentation, and whether a quote ends too early",
		},
		"a list among keys":  {"a: 1\n- b\nc: 3\n", "f.yaml:2:1: this does not belong here"},
		"a key among a list": {"a:\n  - b\n  c: 3\n", "f.yaml:3:3: this does not belong to the list above"},
	} {
		_, problems := Read("f.yaml", []byte(test.raw))
		if len(problems) != 1 || !strings.HasPrefix(problems[0].String(), test.want) {
			t.Errorf("%s: %q, want %q", name, problems, test.want)
		}
	}
}

func TestReadAtTheLimits(t *testing.T) {
	for name, raw := range map[string]string{
		"depth":   nested(MaxDepth),
		"size":    "a: " + strings.Repeat("x", MaxFile-3),
		"marks":   strings.Repeat("-\n", limits().Marks),
		"aliases": bomb(4),
	} {
		if top, problems := Read("f.yaml", []byte(raw)); top == nil || len(problems) > 0 {
			t.Errorf("%s: %q", name, problems)
		}
	}
}

// An empty document is not a problem, however it is written.
func TestReadNothing(t *testing.T) {
	for _, raw := range []string{"", "\n", "# a remark\n", "---\n", "null\n", "~\n"} {
		if top, problems := Read("f.yaml", []byte(raw)); top != nil || problems != nil {
			t.Errorf("%q: %v, %q", raw, top, problems)
		}
	}
}

func TestExpand(t *testing.T) {
	top, problems := Read("f.yaml", []byte("a: &x {b: [1, 2]}\nc: *x\n"))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	flat := Expand(top)
	if c := Field(flat, "c"); c == nil || c.Anchor != "" || c == Field(flat, "a") ||
		Field(c, "b").Content[1].Value != "2" {
		t.Errorf("c is %+v", c)
	}
	if original := Field(top, "a"); original.Anchor != "x" {
		t.Errorf("the document was changed: %+v", original)
	}
}

// Whatever is read ends with a document or with a problem that has a place, and what it expands to is no larger than
// the limits say.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		bomb(9), "a: &a [*a]", nested(70), "a: 1\n---\nb", "<<: [{a: 1}, 2]", "\xff",
		"? [a]\n: b",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		top, problems := Read("f.yaml", raw)
		for _, p := range problems {
			if top != nil || !strings.HasPrefix(p.String(), "f.yaml:") {
				t.Errorf("%v, %q", top, p)
			}
		}
		if top != nil && count(top, limits().Weight/nodeWeight) < 0 {
			t.Error("more nodes than the limits allow, with the aliases put in")
		}
	})
}

// count takes the nodes of a document, with its aliases put in, from what is left; it gives up below zero.
func count(n *yaml.Node, left int) int {
	n = Resolve(n)
	left--
	for _, child := range n.Content {
		if left < 0 {
			break
		}
		left = count(child, left)
	}
	return left
}
