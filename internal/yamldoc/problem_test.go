package yamldoc

import (
	"slices"
	"strings"
	"testing"
)

// Problems are in the order of the files, each once, and below each is its place.
func TestReport(t *testing.T) {
	text := "a: 1\r\n  \tb: ä2\n" + "long: [" + strings.Repeat("x, ", 50) + "here]\n" + "k: 日本 e\u0301 x\n"
	all := []Problem{
		{"a.yaml", 4, 10, "wide and narrow"},
		{"b.yaml", 0, 0, "no YAML"},
		{"a.yaml", 10, 1, "behind the end"},
		{"a.yaml", 3, 158, "far"},
		{"a.yaml", 2, 8, "wide"},
		{"a.yaml", 2, 4, "tab"},
		{"a.yaml", 1, 1, "first"},
		{"a.yaml", 2, 4, "tab"},
		{"", 0, 0, "--set x: bad"},
	}
	got := Report(all, func(file string) []byte {
		if file == "a.yaml" {
			return []byte(text)
		}
		return nil
	})
	want := []string{
		"--set x: bad",
		"a.yaml:1:1: first\n  a: 1\n  ^",
		"a.yaml:2:4: tab\n     b: ä2\n     ^",
		"a.yaml:2:8: wide\n     b: ä2\n         ^",
		"a.yaml:3:158: far\n  …, x, x, x, x, x, x, x, here]\n                          ^",
		"a.yaml:4:10: wide and narrow\n  k: 日本 e\u0301 x\n            ^",
		"a.yaml:10:1: behind the end",
		"b.yaml: no YAML",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant\n%q", got, want)
	}
}

func TestNearest(t *testing.T) {
	fields := []string{
		"cpu", "env", "image", "imagePullPolicy", "initScripts", "isTemplate", "memory", "name",
		"storages", "template",
	}
	for written, want := range map[string]string{
		"imge": "image", "Image": "image", "init_scripts": "initScripts", "initscript": "initScripts", "environs": "",
		"storage": "storages", "templte": "template", "memroy": "memory", "naem": "name", "cup": "cpu", "cp": "cpu",
		"gpu": "", "x": "", "": "", "isTemplat": "isTemplate",
		"imagepullpolicy": "imagePullPolicy", strings.Repeat("e", 1000): "",
	} {
		if got := Nearest(written, fields); got != want {
			t.Errorf("%q: %q, want %q", written, got, want)
		}
	}
}
