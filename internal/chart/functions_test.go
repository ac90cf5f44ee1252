package chart

import (
	"io"
	"strings"
	"testing"
	texttemplate "text/template"
	"time"

	"github.com/berthdev/berth/internal/chart/chartutil"
	"github.com/berthdev/berth/third_party/template"
)

// compared are values of all kinds that templates see, and some that they do not.
func compared() map[string]any {
	one := 1
	return map[string]any{
		"missing": nil, "empty": "", "a": "a", "true": true, "false": false, "zero": 0, "one": 1, "int64": int64(1),
		"uint": uint(1), "negative": -1,
		"float": 1.0, "complex": 1i, "time": time.Unix(0, 0), "duration": time.Second, "list": []any{1},
		"no list": []any(nil), "table": map[string]any{"a": 1},
		"no table": map[string]any(nil), "values": chartutil.Values{}, "no values": chartutil.Values(nil),
		"pointer":    &one,
		"no pointer": (*int)(nil), "array": [1]any{"a"},
		"uncomparable": [1]any{[]any{1}}, "error": messageError("a"), "function": strings.ToUpper,
	}
}

// eq and ne do what text/template does, with the same errors.
func TestComparisons(t *testing.T) {
	const text = `{{ define "one" }}{{ eq .a }}{{ end }}{{ define "eq" }}{{ eq .a .b }}{{ end }}{{ define "ne" }}{{ ` +
		`ne .a .b }}{{ end }}` +
		`{{ define "any" }}{{ eq .a .b .c }}{{ end }}{{ define "piped" }}{{ .a | eq .b | ne .c }}{{ end }}`
	theirs := texttemplate.Must(texttemplate.New("").Parse(text))
	ours, err := template.New("").Funcs(comparisons()).Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	type runner interface {
		ExecuteTemplate(w io.Writer, name string, data any) error
	}
	run := func(t runner, name string, values map[string]any) string {
		var out strings.Builder
		if err := t.ExecuteTemplate(&out, name, values); err != nil {
			return err.Error()
		}
		return out.String()
	}
	for a, first := range compared() {
		for b, second := range compared() {
			for _, c := range []string{"missing", "a", "one", "list", "uncomparable"} {
				values := map[string]any{"a": first, "b": second, "c": compared()[c]}
				for _, name := range []string{"one", "eq", "ne", "any", "piped"} {
					if want, got := run(theirs, name, values), run(ours, name, values); got != want {
						t.Errorf("%s of %s, %s, %s: got %s, want %s", name, a, b, c, got, want)
					}
				}
			}
		}
	}
}
