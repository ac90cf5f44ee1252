package chart

import (
	"errors"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/fault"
)

func TestSetOver(t *testing.T) {
	read := func(path string) ([]byte, error) {
		if path != "note.txt" {
			return nil, errors.New("no such file")
		}
		return []byte("line\n"), nil
	}
	for name, test := range map[string]struct {
		text string
		set  Set
		want string
	}{
		"nothing": {"a: 1 # as it is\n", Set{}, "a: 1 # as it is\n"},
		"over a file": {
			"image: {tag: v1, name: shop}\n",
			Set{Values: []string{"image.tag=v2"}},
			"image:\n  name: shop\n  tag: v2\n",
		},
		"several":           {"", Set{Values: []string{"a=1,b=true", "c[1]=x"}}, "a: 1\nb: true\nc:\n- null\n- x\n"},
		"a string":          {"", Set{Strings: []string{"a=1"}}, "a: \"1\"\n"},
		"a null":            {"a: 1\n", Set{Values: []string{"a=null"}}, "a: null\n"},
		"JSON":              {"", Set{JSON: []string{`a={"b":[1]}`}}, "a:\n  b:\n  - 1\n"},
		"a file":            {"", Set{Files: []string{"note=note.txt"}}, "note: |\n  line\n"},
		"the later one":     {"", Set{Values: []string{"a=1", "a=2"}}, "a: 2\n"},
		"strings are later": {"", Set{Values: []string{"a=1"}, Strings: []string{"a=2"}}, "a: \"2\"\n"},
	} {
		got, err := test.set.Over([]byte(test.text), read)
		if err != nil || string(got) != test.want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	_, err := Set{Values: []string{"a[=1"}, Files: []string{"a=none"}, JSON: []string{"a={"}}.Over(nil, read)
	f := fault.From(err)
	if f.Code != fault.InvalidArgument || len(f.Problems) != 3 ||
		!strings.HasPrefix(f.Problems[0], `--set-json "a={": `) ||
		!strings.Contains(f.Problems[2], "no such file") {
		t.Errorf("%v %q", err, f.Problems)
	}
}
