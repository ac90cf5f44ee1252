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

// The control namespace is one, and none unless it is configured.
func TestControlNamespace(t *testing.T) {
	for text, want := range map[string]string{"blueprints: /x\n": "", "controlNamespace: k8shell\n": "k8shell"} {
		if c, err := load(t, write(t, text), ""); err != nil || c.ControlNamespace != want {
			t.Errorf("%q: %q, %v", text, c.ControlNamespace, err)
		}
	}
	_, err := load(t, write(t, "controlNamespace: '*'\n"), "")
	if f := fault.From(err); f.Code != fault.InvalidArgument ||
		!strings.Contains(strings.Join(f.Problems, " "), `controlNamespace: invalid namespace "*"`) {
		t.Errorf("%v", err)
	}
}
