package source_test

import (
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/bundle/source"
	"github.com/berthdev/berth/internal/fault"
)

// The versions of a chart are found in indexes as programs write them, and of a hostile one there is an error.
func TestIndex(t *testing.T) {
	for name, test := range map[string]struct {
		index string
		want  []string
		says  string
	}{
		"as helm writes it": {
			index: "apiVersion: v1\nentries:\n  aap:\n  - version: 9.0.0\n  app:\n  - description: |\n" +
				"      entries:\n\n" +
				"      app:\n    urls:\n    - app-1.tgz\n    version: 1.0.0\n  - urls: [a, b]\n    version: \"2\"\n" +
				"  zap:\n" +
				"  - version: 9.9.9\ngenerated: \"2026-01-01T00:00:00Z\"\n",
			want: []string{"1.0.0 app-1.tgz", "2 a b"},
		},
		"indented": {
			index: "entries:\n    app:\n      - version: 1.0.0\n        urls: [x]\n    b: []\n",
			want:  []string{"1.0.0 x"},
		},
		"not indented": {
			index: "# x\n---\nentries:\n 'app':  # x\n # y\n - version: 1.0.0\r\n   urls: [x]\r\n",
			want:  []string{"1.0.0 x"},
		},
		"JSON": {
			index: `{"x":[{}],"entries":{"b":[{"version":"9"}],"app":[{"version":"1.0.0","urls":["x"]}]}}`,
			want:  []string{"1.0.0 x"},
		},
		"no such chart": {index: "entries:\n  b:\n  - version: 1.0.0\n"},
		"no charts":     {index: "entries: {}\n"},
		"no versions":   {index: "entries:\n  app: []\n"},
		"an alias":      {index: "entries:\n  b:\n  - &x {version: 1.0.0}\n  app:\n  - *x\n", says: "unknown anchor"},
		"no entries":    {index: "<html>\n", says: "it has no entries"},
		"empty":         {index: "", says: "it has no entries"},
		"twice": {
			index: "entries:\n  app:\n  - version: 1.0.0\n  app:\n  - version: 2.0.0\n",
			says:  `names the chart "app" twice`,
		},
		"entries twice":  {index: "entries: {}\nentries:\n  app:\n  - version: 2.0.0\n", says: "entries twice"},
		"twice, in JSON": {index: `{"entries":{"app":[],"app":[]}}`, says: `names the chart "app" twice`},
		"flow":           {index: "entries: {app: [{version: 1.0.0}]}\n", says: "not in block style"},
		"flow, below":    {index: "entries:\n  app: [{version: 1.0.0}]\n", says: "not in block style"},
		"no list":        {index: "entries:\n  app:\n    version: 1.0.0\n", says: "a version of the chart"},
		"broken JSON":    {index: `{"entries":{"app":[{"version":`, says: "unexpected EOF"},
		"deep": {
			index: "entries:\n  app:\n  - version: 1.0.0\n    x: " + strings.Repeat("[", 5000) + "\n",
			says:  "a version of the chart",
		},
		"deep JSON": {index: strings.Repeat(`{"entries":`, 100_000), says: "EOF"},
		"a bomb": {
			index: "entries:\n  app:\n  - a: &a [x,x,x,x,x,x,x,x,x]\n    b: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\n" +
				"    c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\n    d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\n" +
				"    e: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\n    f: [*e,*e,*e,*e,*e,*e,*e,*e,*e]\n",
			says: "a version of the chart",
		},
		"a long line": {index: "entries: " + strings.Repeat("x", 2<<20), says: "a line of more than 1 MiB"},
		"a large version": {
			index: "entries:\n  app:\n  - a: b\n" + strings.Repeat("    xxxxxxxx: y\n", 1<<17),
			says:  "more than 1 MiB",
		},
		"too many": {
			index: "entries:\n  app:\n" + strings.Repeat("  - {}\n", 20_001),
			says:  "more than 20000 versions",
		},
		"too many in JSON": {
			index: `{"entries":{"app":[{}` + strings.Repeat(",{}", 20_000) + `]}}`,
			says:  "more than 20000 versions",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := source.Versions(strings.NewReader(test.index), "app")
			if test.says != "" {
				if fault.CodeOf(err) != fault.InvalidArgument || !strings.Contains(err.Error(), test.says) {
					t.Errorf("%v", err)
				}
				return
			}
			if err != nil || !slices.Equal(got, test.want) {
				t.Errorf("%q %v", got, err)
			}
		})
	}
}

// repeated is a text, again and again.
type repeated struct {
	text string
	at   int
}

func (r *repeated) Read(p []byte) (n int, _ error) {
	n = copy(p, r.text[r.at:])
	r.at = (r.at + n) % len(r.text)
	return n, nil
}

// An index without an end is read to the bound, whatever it is written in.
func TestEndlessIndex(t *testing.T) {
	for _, begin := range []string{"entries:\n  app:\n  - version: 1.0.0\n", `{"x":[`} {
		text := "  x:\n  - version: 2.0.0\n  "
		if begin[0] == '{' {
			text = `{"x":"` + strings.Repeat("y", 4000) + `"},`
		}
		_, err := source.Versions(io.MultiReader(strings.NewReader(begin), &repeated{text: text}), "app")
		if err == nil || !strings.Contains(err.Error(), "larger than 50 MiB") {
			t.Errorf("%v", err)
		}
	}
}

// An index that is as large as one may be, or almost, is read; of it no more is held than what is wanted.
func TestLargeIndex(t *testing.T) {
	others := io.LimitReader(&repeated{text: "  x-0123456789:\n  - version: 2.0.0\n    description: " +
		strings.Repeat("y", 1000) + "\n"}, 49<<20)
	index := io.MultiReader(strings.NewReader("entries:\n  app:\n  - version: 1.0.0\n    urls: [x]\n"), others,
		strings.NewReader("\n  zap:\n  - version: 3.0.0\n"))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, err := source.Versions(index, "app")
	runtime.ReadMemStats(&after)
	if err != nil || !slices.Equal(got, []string{"1.0.0 x"}) {
		t.Errorf("%q %v", got, err)
	}
	if after.Sys > before.Sys+16<<20 {
		t.Errorf("it takes %d MiB", (after.Sys-before.Sys)>>20)
	}
}

// Whatever an index says, there are versions or an error of the index.
func FuzzIndex(f *testing.F) {
	f.Add("entries:\n  app:\n  - version: 1.0.0\n    urls: [x]\n")
	f.Add(`{"entries":{"app":[{"version":"1.0.0","urls":["x"]}]}}`)
	f.Fuzz(func(t *testing.T, index string) {
		if _, err := source.Versions(strings.NewReader(index), "app"); err != nil &&
			fault.CodeOf(err) != fault.InvalidArgument {
			t.Errorf("%v", err)
		}
	})
}
