package config

import (
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/fault"
)

// Blueprints read those variables that are named, one by one.
func TestBlueprintVariables(t *testing.T) {
	c, err := load(t, write(t, "blueprintVariables: [SITE, HOME]\n"), "")
	if err != nil || strings.Join(c.BlueprintVariables, " ") != "SITE HOME" {
		t.Errorf("%v, %q", err, c.BlueprintVariables)
	}
	for _, name := range []string{"'*'", "'A=B'", "''"} {
		_, err := load(t, write(t, "blueprintVariables: ["+name+"]\n"), "")
		if err == nil || !strings.Contains(strings.Join(fault.From(err).Problems, " "),
			"blueprintVariables[0]: invalid name") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
