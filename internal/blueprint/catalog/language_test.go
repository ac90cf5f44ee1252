package catalog

import (
	"fmt"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/berthdev/berth/internal/blueprint/expression"
	"github.com/berthdev/berth/internal/blueprint/layer"
	"github.com/berthdev/berth/internal/fault"
)

// All expressions together are at most 400, and at most 16 KiB: each is compiled.
func TestTooManyExpressions(t *testing.T) {
	for name, c := range map[string]struct {
		n, length int
		more      string
		fine      bool
	}{
		"as many as there may be": {400, 3, "", true},
		"one more":                {401, 3, "", false},
		"as long as they may be":  {16, 1024, "", true},
		"longer by a character":   {16, 1024, "    B: !cel \"1\"\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			var text strings.Builder
			text.WriteString("blueprints:\n- name: dev\n  template: default\n  env:\n")
			for i := range c.n {
				fmt.Fprintf(&text, "    A%d: !cel \"'%s'\"\n", i, strings.Repeat("x", c.length-2))
			}
			text.WriteString(c.more)
			_, err := load(t, map[string]string{"team.yaml": text.String()})
			if c.fine {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.Contains(strings.Join(fault.From(err).Problems, "\n"),
				"too many expressions: more than 400 in total, or longer than 16 KiB") {
				t.Errorf("it says %v", err)
			}
		})
	}
}

// What a user writes reads no variables also if it were evaluated without having been checked.
func TestUsersReadNoVariables(t *testing.T) {
	set := platformSet(t)
	known := expression.Facts{Variables: map[string]string{"SITE": "north"}}
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: layer.ExpressionTag, Value: `env("SITE")`}
	for file, reads := range map[string]bool{"platform.yaml": true, "mine.yaml": false, "": false} {
		d := Draft{set: set, own: entry{file: "mine.yaml", custom: true}}
		v := layer.Value{Fields: map[string]layer.Value{"image": layer.New("x", file, n)}}
		got, problems := d.evaluated(t.Context(), v, known)
		if read := got.Fields["image"].Scalar.Value == "north"; read != reads || read == (len(problems) > 0) {
			t.Errorf("%q: %+v %q", file, got.Fields["image"].Scalar, problems)
		}
	}
}
