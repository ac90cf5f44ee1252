package blueprint

import (
	"strings"
	"testing"
)

// The lengths of what people read are those of the specification, in characters.
func TestLengths(t *testing.T) {
	for field, test := range map[string]struct {
		most int
		set  func(*Blueprint, string)
	}{
		"name":        {40, func(b *Blueprint, text string) { b.Name = text }},
		"description": {500, func(b *Blueprint, text string) { b.Description = text }},
		"splash":      {4096, func(b *Blueprint, text string) { b.Splash = text }},
	} {
		for _, character := range []string{"a", "ä", "😀"} {
			b := Blueprint{Name: "dev", Image: "alpine"}
			test.set(&b, strings.Repeat(character, test.most))
			if problems := b.Validate(); len(problems) > 0 {
				t.Errorf("%s of %d %s: %s", field, test.most, character, problems)
			}
			test.set(&b, strings.Repeat(character, test.most+1))
			if problems := b.Validate(); len(problems) != 1 ||
				!strings.HasPrefix(problems[0], field+": must have at most ") {
				t.Errorf("%s of %d %s: %s", field, test.most+1, character, problems)
			}
		}
	}
}

// Init scripts have the names that people give files.
func TestScriptNames(t *testing.T) {
	for name, legal := range map[string]bool{
		"setup": true, "01_Setup.sh": true, "README": true, "_a": true, "a.b-c_d": true, strings.Repeat("x", 63): true,
		"": false, ".profile": false, "-x": false, "a b": false, "a/b": false, "ä": false, "..": false, "a\n": false,
		"k8shell.repository-0a1b2c3": false, strings.Repeat("x", 64): false,
	} {
		b := Blueprint{Name: "dev", Image: "alpine", InitScripts: []InitScript{{Name: name, Script: "true"}}}
		if problems := b.Validate(); (len(problems) == 0) != legal || !legal &&
			!strings.HasPrefix(problems[0], "initScripts[0].name: ") {
			t.Errorf("%q: %q", name, problems)
		}
	}
}
