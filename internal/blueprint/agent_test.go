package blueprint

import (
	"slices"
	"strings"
	"testing"
)

// The agent starts as root, becomes the user and writes to the image: a security context that takes one of that away is
// refused where there is an agent, and fine without.
func TestSecurityContextOfTheAgent(t *testing.T) {
	drop := func(names ...any) map[string]any {
		return map[string]any{"capabilities": map[string]any{"drop": names}}
	}
	for name, test := range map[string]struct {
		context map[string]any
		want    []string
	}{
		"nothing":      {nil, nil},
		"root":         {map[string]any{"runAsUser": 0, "runAsNonRoot": false, "readOnlyRootFilesystem": false}, nil},
		"another user": {map[string]any{"runAsUser": 1000}, []string{"securityContext.runAsUser"}},
		"not root":     {map[string]any{"runAsNonRoot": true}, []string{"securityContext.runAsNonRoot"}},
		"a read-only image": {
			map[string]any{"readOnlyRootFilesystem": true},
			[]string{"securityContext.readOnlyRootFilesystem"},
		},
		"without CHOWN":       {drop("CHOWN"), []string{"CHOWN"}},
		"without SETUID":      {drop("SETUID"), []string{"SETUID"}},
		"without SETGID":      {drop("cap_setgid"), []string{"SETGID"}},
		"without another one": {drop("NET_RAW"), nil},
		"without all":         {drop("ALL"), []string{"CHOWN", "SETUID", "SETGID"}},
		"with those alone": {map[string]any{"capabilities": map[string]any{
			"drop": []any{"ALL"}, "add": []any{"CHOWN", "SETUID", "SETGID"},
		}}, nil},
	} {
		b := Blueprint{Name: "dev", Image: "alpine", SecurityContext: test.context, K8shelld: K8shelld{Image: "agent"}}
		problems := b.Validate()
		if len(problems) != len(test.want) {
			t.Errorf("%s: %q, want %q", name, problems, test.want)
		}
		for _, want := range test.want {
			if !slices.ContainsFunc(problems, func(problem string) bool { return strings.Contains(problem, want) }) {
				t.Errorf("%s: %q, want %s", name, problems, want)
			}
		}
		b.K8shelld.Image = ""
		if problems := b.Validate(); len(problems) > 0 {
			t.Errorf("%s, without an agent: %q", name, problems)
		}
	}
}
