package instance

import (
	"strings"
	"testing"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/bundle/format"
	"github.com/berthdev/berth/internal/fault"
)

// contentWith is content of empty files.
func contentWith(t *testing.T, names ...string) *content.Content {
	t.Helper()
	b, err := content.NewBuilder(content.NewCache(t.TempDir(), 1<<20), content.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	defer b.Discard()
	for _, name := range names {
		if err := b.Add(name, 0, strings.NewReader("")); err != nil {
			t.Fatal(err)
		}
	}
	c, err := b.Seal(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// What a request is read as follows from its content; where that may be several, it is asked for, and the instance
// keeps it, so that every later reading gives the same.
func TestFormatOfARequest(t *testing.T) {
	const plain, helm, registry = v1alpha1.ClassPlain, v1alpha1.ClassHelm, v1alpha1.ClassRegistry
	both := []string{"manifests/a.yaml", "kustomization.yaml"}
	for name, test := range map[string]struct {
		files     []string
		asked     format.Format
		class     string // that of the request, or of the flag
		want      format.Format
		wantClass string
		kept      string
		err       string
	}{
		"manifests":          {both[:1], "", "", format.Plain, plain, "", ""},
		"YAML":               {[]string{"a.yaml"}, "", "", format.YAML, plain, "", ""},
		"a kustomization":    {both[1:], "", "", format.Kustomize, plain, "", ""},
		"a chart":            {[]string{"Chart.yaml"}, "", "", format.Helm, helm, "", ""},
		"both":               {both, "", "", "", "", "", "ambiguous"},
		"both, as manifests": {both, format.Plain, plain, format.Plain, plain, "", ""},
		"both, to be built":  {both, format.Kustomize, plain, format.Kustomize, plain, "kustomize", ""},
		"all files of both":  {both, format.YAML, plain, format.YAML, plain, "yaml", ""},
		"both, of a class":   {both, "", plain, format.Plain, plain, "", ""},
		"YAML, of a class":   {[]string{"a.yaml"}, "", plain, format.YAML, plain, "", ""},
		"YAML as an operator": {
			[]string{"a.yaml"}, "", registry, format.Registry, registry, "", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			q := &Request{Content: contentWith(t, test.files...), Class: test.class, Format: test.asked}
			got, err := formatOf(q)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("%v, want %s", err, test.err)
				}
				return
			}
			if err != nil || got != test.want || q.Class != test.wantClass || q.Config.Format != test.kept {
				t.Fatalf("%s, class %s, kept as %q, %v", got, q.Class, q.Config.Format, err)
			}
			again, err := contentOf(q.Content, q.Class, q.Config)
			if err != nil || again != got {
				t.Errorf("the pass reads it as %s, %v", again, err)
			}
		})
	}
}

// An instance that somebody else writes may say how its content is read, as its class allows.
func TestFormatOfAnInstance(t *testing.T) {
	both := contentWith(t, "manifests/a.yaml", "kustomization.yaml")
	for name, test := range map[string]struct {
		class, says string
		want        format.Format
		err         string
	}{
		"nothing":                  {v1alpha1.ClassPlain, "", format.Plain, ""},
		"one of the class":         {v1alpha1.ClassPlain, "kustomize", format.Kustomize, ""},
		"the class itself":         {v1alpha1.ClassPlain, "plain+v0", format.Plain, ""},
		"one of another":           {v1alpha1.ClassPlain, "helm", "", `spec.config.format "helm" is not one of class`},
		"an unknown one":           {v1alpha1.ClassPlain, "x", "", `spec.config.format "x" is not one of class`},
		"a class that has but one": {v1alpha1.ClassHelm, "kustomize", format.Helm, ""},
		"that of operators":        {v1alpha1.ClassRegistry, "yaml", format.Registry, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := contentOf(both, test.class, v1alpha1.Config{Format: test.says})
			if got != test.want || (err == nil) != (test.err == "") ||
				err != nil && (!strings.HasPrefix(err.Error(), test.err) || fault.From(err).Hint == "") {
				t.Errorf("%s, %v", got, err)
			}
		})
	}
}
