package catalog

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/berthdev/berth/internal/blueprint/layer"
)

func layerOf(t *testing.T, text string) layer.Value {
	t.Helper()
	var n yaml.Node
	if err := yaml.Unmarshal([]byte(text), &n); err != nil {
		t.Fatal(err)
	}
	return layer.New("", "", n.Content[0])
}

func TestMergeLists(t *testing.T) {
	for name, tc := range map[string]struct {
		strategies          layer.Strategies
		parent, child, want string
	}{
		"what is not registered is appended": {platformStrategies(), "x: [a, b]", "x: [b, c]", "x: [a, b, b, c]"},
		"scripts take the place of their name": {
			platformStrategies(), "initScripts: [{name: a, script: '1'}, {name: b, script: '1'}]",
			"initScripts: [{name: c, script: '2'}, {name: a, script: '2'}]",
			"initScripts: [{name: a, script: '2'}, {name: b, script: '1'}, {name: c, script: '2'}]",
		},
		"twice in one layer stays twice": {
			platformStrategies(), "initScripts: [{name: a, script: '1'}]",
			"initScripts: [{name: a, script: '2'}, {name: a, script: '3'}]",
			"initScripts: [{name: a, script: '2'}, {name: a, script: '3'}]",
		},
		"a user's scripts replace no others": {
			customStrategies(), "initScripts: [{name: a, script: '1'}]", "initScripts: [{name: a, script: '2'}]",
			"initScripts: [{name: a, script: '1'}, {name: a, script: '2'}]",
		},
		"addresses are united": {
			platformStrategies(), "network: {allowEgressToCIDRs: [10.0.0.0/8]}",
			"network: {allowEgressToCIDRs: [10.0.0.0/8, 1.0.0.0/8]}",
			"network: {allowEgressToCIDRs: [10.0.0.0/8, 1.0.0.0/8]}",
		},
		"capabilities are united": {
			platformStrategies(), "securityContext: {capabilities: {drop: [KILL]}}",
			"securityContext: {capabilities: {drop: [CHOWN, KILL]}}",
			"securityContext: {capabilities: {drop: [KILL, CHOWN]}}",
		},
		"access modes are replaced": {
			platformStrategies(), "storages: {a: {claimSpec: {accessModes: [ReadWriteOnce]}}}",
			"storages: {a: {claimSpec: {accessModes: [ReadWriteMany]}}}",
			"storages: {a: {claimSpec: {accessModes: [ReadWriteMany]}}}",
		},
		"nothing changes nothing": {platformStrategies(), "x: [a]\ny: 1", "x: ~\ny:", "x: [a]\ny: 1"},
	} {
		var got, want any
		if err := tc.strategies.Merge(layerOf(t, tc.parent), layerOf(t, tc.child)).Node().Decode(&got); err != nil {
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
