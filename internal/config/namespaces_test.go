package config

import (
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/fault"
)

// No list leaves it to the cluster, an empty one allows injection nowhere.
func TestInjectNamespaces(t *testing.T) {
	for text, want := range map[string][]string{
		"blueprints: /x\n":                nil,
		"injectNamespaces: []\n":          {},
		"injectNamespaces: [shop, '*']\n": {"shop", "*"},
	} {
		c, err := load(t, write(t, text), "")
		if err != nil || strings.Join(c.InjectNamespaces, " ") != strings.Join(want, " ") ||
			(c.InjectNamespaces == nil) != (want == nil) {
			t.Errorf("%q: %#v, %v", text, c.InjectNamespaces, err)
		}
	}
	_, err := load(t, write(t, "injectNamespaces: [shop-*]\n"), "")
	if f := fault.From(err); f.Code != fault.InvalidArgument ||
		!strings.Contains(strings.Join(f.Problems, " "), "shop-*") {
		t.Errorf("%v", err)
	}
}
