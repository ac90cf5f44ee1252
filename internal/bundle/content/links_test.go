package content_test

import (
	"archive/tar"
	"maps"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/bundle/content"
)

// A link is followed where it leads to something in the content, in whatever order they come.
func TestLinks(t *testing.T) {
	link := func(name, target string) entry { return special(tar.TypeSymlink, name, target) }
	for name, test := range map[string]struct {
		entries []entry
		files   map[string]string
		says    string
	}{
		"to a file": {
			[]entry{link("values.yaml", "base.yaml"), file("base.yaml", "a")},
			map[string]string{"base.yaml": "a", "values.yaml": "a"},
			"",
		},
		"to one above": {[]entry{file("a", "1"), link("d/l", "../a")}, map[string]string{"a": "1", "d/l": "1"}, ""},
		"to a directory": {
			[]entry{file("d/a", "1"), file("d/e/b", "2"), link("l", "d")},
			map[string]string{"d/a": "1", "d/e/b": "2", "l/a": "1", "l/e/b": "2"},
			"",
		},
		"to a link": {
			[]entry{link("a", "b"), link("b", "c"), file("c", "1")},
			map[string]string{"a": "1", "b": "1", "c": "1"},
			"",
		},
		"through a link": {
			[]entry{link("a", "l/x"), link("l", "d"), file("d/x", "1")},
			map[string]string{"a": "1", "l/x": "1", "d/x": "1"},
			"",
		},
		"with a link in its directory": {
			[]entry{link("l", "d"), link("d/x", "../y"), file("y", "1")},
			map[string]string{"y": "1", "d/x": "1", "l/x": "1"},
			"",
		},
		"outside": {
			[]entry{file("x", ""), link("d/a", "../../etc/passwd")},
			nil,
			`"d/a": a symbolic link to "../../etc/passwd", which is outside of the bundle`,
		},
		"by an absolute": {
			[]entry{file("x", ""), link("a", "/x")},
			nil,
			`"a": a symbolic link to "/x", which is outside`,
		},
		"to nothing": {
			[]entry{file("x", ""), link("a", "b")},
			nil,
			`"a": a symbolic link to "b", which is not in the bundle`,
		},
		"without a target": {[]entry{file("x", ""), link("a", "")}, nil, `"a": a symbolic link to ""`},
		"to itself": {
			[]entry{file("x", ""), link("a", "a")},
			nil,
			`"a": a symbolic link to "a", which it is in itself`,
		},
		"to one another": {
			[]entry{file("x", ""), link("a", "b"), link("b", "a")},
			nil,
			`2 entries cannot be in a bundle, the first is "a": a symbolic link to "b"`,
		},
		"to what it is in": {
			[]entry{file("d/x", ""), link("d/a", ".")},
			nil,
			`"d/a": a symbolic link to ".", which it is in itself`,
		},
		"to all":     {[]entry{file("x", ""), link("a", ".")}, nil, `which it is in itself`},
		"and a file": {[]entry{file("x", ""), link("a", "x"), file("a", "")}, nil, `"a": the name of two files`},
		"and a file in it": {
			[]entry{file("x", ""), link("a", "x"), file("a/b", "")},
			nil,
			`"a": the name of both a file and a directory`,
		},
		"in place of a dir": {
			[]entry{file("a/b", ""), link("a", "x")},
			nil,
			`"a": the name of both a file and a directory`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, _, err := take(t, archive(t, test.entries...), content.DefaultLimits())
			if test.says != "" {
				if err == nil || !strings.Contains(err.Error(), test.says) {
					t.Errorf("%v, not %s", err, test.says)
				}
				return
			}
			if err != nil || !maps.Equal(got, test.files) {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
}
