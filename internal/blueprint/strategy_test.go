package blueprint

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

func TestStrategiesByPath(t *testing.T) {
	s := strategies{
		exact:  map[string]strategy{"a.b.c": {key: "exact"}},
		suffix: map[string]strategy{"b.c": {key: "long suffix"}, "x.b.c": {key: "longer suffix"}, "c": {key: "short suffix"}},
		key:    map[string]strategy{"c": {key: "bare"}, "d": {key: "bare"}},
	}
	for path, want := range map[string]string{
		"a.b.c":     "exact",
		"z.b.c":     "long suffix",
		"z.x.b.c":   "longer suffix",
		"a.b.z.c":   "short suffix",
		"c":         "bare", // a suffix is a part of the path, not all of it
		"a.d":       "bare",
		"d":         "bare",
		"a.b":       "",
		"a.bb.cc":   "",
		"a.b.c.e":   "",
		"za.b.c.zd": "",
	} {
		if got := s.find(path).key; got != want {
			t.Errorf("%s has strategy %q, want %q", path, got, want)
		}
	}
}

func layerOf(t *testing.T, text string) value {
	t.Helper()
	var n yaml.Node
	if err := yaml.Unmarshal([]byte(text), &n); err != nil {
		t.Fatal(err)
	}
	return entry{}.lift(n.Content[0])
}

func TestListsAreLaidOverEachOther(t *testing.T) {
	for name, tc := range map[string]struct {
		rules               strategies
		parent, child, want string
	}{
		"what is not registered is appended": {platformStrategies(), "x: [a, b]", "x: [b, c]", "x: [a, b, b, c]"},
		"scripts take the place of their name": {
			platformStrategies(), "initScripts: [{name: a, script: '1'}, {name: b, script: '1'}]",
			"initScripts: [{name: c, script: '2'}, {name: a, script: '2'}]",
			"initScripts: [{name: a, script: '2'}, {name: b, script: '1'}, {name: c, script: '2'}]",
		},
		"twice in one layer stays twice": {
			platformStrategies(), "initScripts: [{name: a, script: '1'}]", "initScripts: [{name: a, script: '2'}, {name: a, script: '3'}]",
			"initScripts: [{name: a, script: '2'}, {name: a, script: '3'}]",
		},
		"one's own scripts replace nobody's": {
			ownStrategies(), "initScripts: [{name: a, script: '1'}]", "initScripts: [{name: a, script: '2'}]",
			"initScripts: [{name: a, script: '1'}, {name: a, script: '2'}]",
		},
		"addresses are united": {
			platformStrategies(), "network: {allowEgressToCIDRs: [10.0.0.0/8]}", "network: {allowEgressToCIDRs: [10.0.0.0/8, 1.0.0.0/8]}",
			"network: {allowEgressToCIDRs: [10.0.0.0/8, 1.0.0.0/8]}",
		},
		"capabilities are united": {
			platformStrategies(), "securityContext: {capabilities: {drop: [KILL]}}", "securityContext: {capabilities: {drop: [CHOWN, KILL]}}",
			"securityContext: {capabilities: {drop: [KILL, CHOWN]}}",
		},
		"access modes are replaced": {
			platformStrategies(), "storages: {a: {claimSpec: {accessModes: [ReadWriteOnce]}}}", "storages: {a: {claimSpec: {accessModes: [ReadWriteMany]}}}",
			"storages: {a: {claimSpec: {accessModes: [ReadWriteMany]}}}",
		},
		"nothing changes nothing": {platformStrategies(), "x: [a]\ny: 1", "x: ~\ny:", "x: [a]\ny: 1"},
	} {
		var got, want any
		if err := tc.rules.overlay("", layerOf(t, tc.parent), layerOf(t, tc.child)).node().Decode(&got); err != nil {
			t.Fatal(err)
		}
		if err := yaml.Unmarshal([]byte(tc.want), &want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
