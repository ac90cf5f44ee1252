package blueprint

import (
	"slices"
	"strings"
	"testing"
)

// A template may leave to others what is missing, and what does not fit together; a value that is wrong by itself is
// wrong in it, too.
func TestValuesOfATemplate(t *testing.T) {
	b := Blueprint{
		Name: "team", Podman: Podman{Enabled: true}, K8shelld: K8shelld{Image: "agent"},
		SecurityContext: map[string]any{"runAsNonRoot": true},
		Env:             map[string]string{"HOME": "/x", "1A": ""}, Resources: Resources{Memory: "512m"},
		Storages: map[string]Storage{
			"home": {Path: "/home/dev", SizeLimit: "1Gi"}, "other": {Path: "/home/dev"},
			"kept":  {ID: "a", Afterlife: "1h", ClaimSpec: map[string]any{"volumeMode": "Filesystem"}},
			"wrong": {Type: "disk", Path: "relative", Afterlife: "2 days"},
		},
	}
	var fields []string
	for _, problem := range b.ValidateValues() {
		field, _, _ := strings.Cut(problem, ": ")
		fields = append(fields, field)
	}
	want := []string{
		"resources.memory", "env.1A", "storages.wrong.type", "storages.wrong.path",
		"storages.wrong.afterlife",
	}
	if !slices.Equal(fields, want) {
		t.Errorf("%q, want %q", b.ValidateValues(), want)
	}
}
