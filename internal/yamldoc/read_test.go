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
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 10), ", "))
	}
	return b.String()
}

func nested(n int) string { return strings.Repeat("[", n) + "x" + strings.Repeat("]", n) }

func TestReadRefuses(t *testing.T) {
	for name, test := range map[string]struct{ raw, want string }{
		"an alias bomb":                 {bomb(9), "f.yaml:1:1: larger than 4 MiB with its aliases expanded"},
		"an alias inside of itself":     {"a:\n  b: &x\n    c: *x\n", `f.yaml:3:8: alias "x" refers to itself`},
		"what is too deep":              {nested(MaxDepth + 1), fmt.Sprintf("f.yaml:1:%d: nested more than 64 levels deep", MaxDepth+2)},
		"what is too deep by aliases":   {"a: &a " + nested(40) + "\nb: " + strings.Repeat("[", 40) + "*a" + strings.Repeat("]", 40), "f.yaml:1:4: nested more than 64 levels deep"},
		"a file that is too large":      {"a: " + strings.Repeat("x", MaxFile), "f.yaml: larger than 1 MiB"},
		"more nodes than anybody needs": {strings.Repeat("-\n", limits().Marks+1), "f.yaml: too many values"},
		"a second document":             {"a: 1\n---\nb: 2\n", "f.yaml:2: more than one document"},
		"no YAML":                       {"a: 1\nb: [\n", "f.yaml:2: did not find expected node content"},
	} {
		top, problems := Read("f.yaml", []byte(test.raw))
		if top != nil || len(problems) != 1 || problems[0] != test.want {
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
	if c := Field(flat, "c"); c == nil || c.Anchor != "" || c == Field(flat, "a") || Field(c, "b").Content[1].Value != "2" {
		t.Errorf("c is %+v", c)
	}
	if original := Field(top, "a"); original.Anchor != "x" {
		t.Errorf("the document was changed: %+v", original)
	}
}

// Whatever is read ends with a document or with a problem that has a place, and
// what it expands to is no larger than the limits say.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{bomb(9), "a: &a [*a]", nested(70), "a: 1\n---\nb", "<<: [{a: 1}, 2]", "\xff", "? [a]\n: b"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		top, problems := Read("f.yaml", raw)
		for _, p := range problems {
			if top != nil || !strings.HasPrefix(p, "f.yaml:") {
				t.Errorf("%v, %q", top, p)
			}
		}
		if top != nil && count(top, limits().Weight/nodeWeight) < 0 {
			t.Error("more nodes than the limits allow, with the aliases put in")
		}
	})
}

// count takes the nodes of a document, with its aliases put in, from what is
// left; it gives up below zero.
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
