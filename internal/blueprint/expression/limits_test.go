package expression

import (
	"context"
	"slices"
	"strings"
	"testing"
)

// What an expression may have at most is evaluated, and one more of it is not.
func TestLimitsOfExpressions(t *testing.T) {
	for name, c := range map[string]struct {
		most  int
		text  func(n int) string
		says  string
		limit bool // for everybody, whatever the facts are
	}{
		"characters": {
			1022, func(n int) string { return "'" + strings.Repeat("x", n) + "'" },
			"size exceeds limit", false,
		},
		"additions": {24, func(n int) string { return "1" + strings.Repeat("+1", n) }, "recursion", false},
		"brackets": {
			23, func(n int) string { return strings.Repeat("(", n) + "1" + strings.Repeat(")", n) },
			"recursion", false,
		},
		"parts": {
			297, func(n int) string { return "[" + strings.Repeat("1,", n) + "1].size()" },
			"node count exceeds limit", false,
		},
		"states of a pattern": {
			498, func(n int) string { return "'a'.matches('" + strings.Repeat("a", n) + "')" },
			"regex program size", false,
		},
		"bytes of a value": {
			16 << 10, func(int) string { return `(blueprint.text + "") != ""` },
			"an intermediate value is larger than 16 KiB or 2000 values", true,
		},
		"values in a value": {
			1999, func(int) string { return "(blueprint.list + []).size()" },
			"an intermediate value is larger than 16 KiB or 2000 values", true,
		},
		"values in inner values": {
			1998, func(int) string { return "[blueprint.list].size()" },
			"an intermediate value is larger than 16 KiB or 2000 values", true,
		},
	} {
		for n, fine := range map[int]bool{c.most: true, c.most + 1: false} {
			zeros := make([]any, n)
			for i := range zeros {
				zeros[i] = 0
			}
			blueprint := map[string]any{"text": strings.Repeat("x", n), "list": zeros}
			_, err := language(t).Evaluate(t.Context(), c.text(n), Scalar, known(), blueprint)
			if (err == nil) != fine || err != nil && !strings.Contains(err.Error(), c.says) ||
				IsLimit(err) != (!fine && c.limit) {
				t.Errorf("%d %s: %v", n, name, err)
			}
		}
	}
}

// A loop takes about five steps for each value, and ten thousand are enough.
func TestSteps(t *testing.T) {
	for n, fine := range map[int]bool{1000: true, 3000: false} {
		zeros := make([]any, n)
		for i := range zeros {
			zeros[i] = 0
		}
		got, err := language(t).Evaluate(t.Context(), "blueprint.list.all(a, a == 0)", Bool, known(),
			map[string]any{"list": zeros})
		if (err == nil) != fine || IsLimit(err) == fine || err != nil &&
			err.Error() != "the expression exceeds its limit of steps" {
			t.Errorf("%d values: %v, %v", n, got, err)
		}
	}
}

// What an expression returns is known only now where a field of the blueprint has any type; nothing fits everywhere.
func TestWhatIsReturned(t *testing.T) {
	blueprint := map[string]any{"text": "a", "whole": 7, "part": 0.5, "yes": true, "list": []any{1}}
	for _, expected := range []Result{Text, Bool, Number, Float, Scalar} {
		for field, fits := range map[string][]Result{
			"text": {Text, Scalar}, "whole": {Text, Number, Float, Scalar}, "part": {Text, Float, Scalar},
			"yes": {Text, Bool, Scalar}, "list": nil,
		} {
			want := blueprint[field]
			if field == "whole" {
				want = int64(7)
			}
			got, err := language(t).Evaluate(t.Context(), "blueprint."+field, expected, known(), blueprint)
			is := slices.Contains(fits, expected)
			if (err == nil) != is || err == nil && got != want || err != nil &&
				!strings.HasPrefix(err.Error(), "expected "+string(expected)+", the expression returns ") {
				t.Errorf("%s where %s is expected: %v, %v", field, expected, got, err)
			}
		}
		if got, err := language(t).Evaluate(t.Context(), "null", expected, known(), blueprint); got != nil ||
			err != nil {
			t.Errorf("nothing where %s is expected: %v, %v", expected, got, err)
		}
	}
}

// An error while it is evaluated has one line.
func TestErrorsOfEvaluation(t *testing.T) {
	ended, end := context.WithCancel(t.Context())
	end()
	long := `user.roles.map(a, user.roles.map(b, user.roles.map(c, user.roles.map(d, user.roles.map(e, ` +
		`user.roles.map(f, user.roles.map(g, a))))))) != []`
	for text, says := range map[string]string{
		`user.roles[7]`:                    "index out of bounds: 7",
		`blueprint.none`:                   "no such key: none",
		`1 / (user.uid - 1000)`:            "division by zero",
		`"a".matches(user.username + "(")`: "missing closing )",
		long:                               "interrupted",
	} {
		ctx := t.Context()
		if text == long {
			ctx = ended
		}
		got, err := language(t).Evaluate(ctx, text, Scalar, known(), nil)
		if err == nil || !strings.Contains(err.Error(), says) || strings.ContainsAny(err.Error(), "\n") ||
			strings.HasPrefix(err.Error(), "ERROR") || IsLimit(err) {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
}
