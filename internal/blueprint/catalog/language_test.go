package catalog

import (
	"fmt"
	"strings"
	"testing"

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
