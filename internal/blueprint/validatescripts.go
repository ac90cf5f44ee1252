package blueprint

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

func validateScripts(report reporter, scripts []InitScript) {
	seen := map[string]bool{}
	for i, script := range scripts {
		field := fmt.Sprintf("initScripts[%d]", i)
		scriptName(report, field+".name", script.Name)
		if seen[script.Name] {
			report("%s.name: duplicate name %q", field, script.Name)
		}
		seen[script.Name] = true
		if strings.TrimSpace(script.Script) == "" {
			report("%s.script: required", field)
		}
	}
}

// The names of init scripts: as people name files, and as the keys of a ConfigMap and the names
// of flags can be. What begins with k8shell. is berth's own.
var fileName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)

const (
	maxScriptName = 63
	ownName       = "k8shell."
)

func scriptName(report reporter, field, name string) {
	switch {
	case name == "":
		report("%s: required", field)
	case utf8.RuneCountInString(name) > maxScriptName:
		report("%s: must have at most %d characters, has %d", field, maxScriptName, utf8.RuneCountInString(name))
	case !fileName.MatchString(name):
		report("%s: invalid name %q: use letters, digits, _, - and ., beginning with a letter, a digit or _", field, name)
	case strings.HasPrefix(name, ownName):
		report("%s: invalid name %q: names that begin with %s are berth's own", field, name, ownName)
	}
}
