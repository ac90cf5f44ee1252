package installer

import (
	"testing"

	"cel.dev/cel-go/cel"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	"sigs.k8s.io/yaml"
)

// Authors are asked for what counts of an instance that is installed as a ServiceAccount, also
// of what the API server, its garbage collector and berth's server write of their own accord;
// these are not asked.
func TestWhoIsAsked(t *testing.T) {
	const (
		collector = "system:serviceaccount:kube-system:generic-garbage-collector"
		berth     = "system:serviceaccount:berth-system:berth-bundles"
		before    = "{metadata: {name: a, annotations: {a: b}, finalizers: [x]}, spec: {serviceAccount: {namespace: shop, name: d}}, status: {installedBundleName: a-1}}"
	)
	for name, test := range map[string]struct {
		by, before, after string
		asked             bool
	}{
		"creates it":         {"alice", "", before, true},
		"deletes it":         {"alice", before, "", true},
		"writes it as it is": {"alice", before, before, false},
		"is the next to write it": {
			"alice", before,
			"{metadata: {name: a, resourceVersion: '2', managedFields: [x], annotations: {a: b}, finalizers: [x]}, spec: {serviceAccount: {namespace: shop, name: d}}, status: {installedBundleName: a-1}}", false,
		},
		"changes what is wanted": {
			"alice", before,
			"{metadata: {name: a, annotations: {a: b}, finalizers: [x]}, spec: {}, status: {installedBundleName: a-1}}", true,
		},
		"gives it an owner": {
			"alice", before,
			"{metadata: {name: a, annotations: {a: b}, finalizers: [x], ownerReferences: [{kind: Pod}]}, spec: {serviceAccount: {namespace: shop, name: d}}, status: {installedBundleName: a-1}}", true,
		},
		"takes off a finalizer": {
			"alice", before,
			"{metadata: {name: a, annotations: {a: b}}, spec: {serviceAccount: {namespace: shop, name: d}}, status: {installedBundleName: a-1}}", true,
		},
		"says that it is uninstalled": {
			"alice", before,
			"{metadata: {name: a, annotations: {a: b, berth.dev/uninstalling: now}, finalizers: [x]}, spec: {serviceAccount: {namespace: shop, name: d}}, status: {installedBundleName: a-1}}", true,
		},
		"labels it": {
			"alice", before,
			"{metadata: {name: a, labels: {a: b}, annotations: {a: b}, finalizers: [x]}, spec: {serviceAccount: {namespace: shop, name: d}}, status: {installedBundleName: a-1}}", true,
		},
		"says what is installed": {
			"alice", before,
			"{metadata: {name: a, annotations: {a: b}, finalizers: [x]}, spec: {serviceAccount: {namespace: shop, name: d}}, status: {installedBundleName: b}}", true,
		},
		"is the server": {
			berth, before,
			"{metadata: {name: a, annotations: {a: b}, finalizers: [x]}, spec: {serviceAccount: {namespace: shop, name: d}}, status: {installedBundleName: b}}", false,
		},
		"is the server of another place": {
			"system:serviceaccount:mine:berth-bundles", before,
			"{metadata: {name: a}, spec: {}}", true,
		},
		"collects it":                 {collector, before, "", false},
		"collects without an account": {"system:kube-controller-manager", before, "", false},
		"collects it in the foreground": {
			collector, before,
			"{metadata: {name: a, annotations: {a: b}}, spec: {serviceAccount: {namespace: shop, name: d}}, status: {installedBundleName: a-1}}", false,
		},
		"is named as the collector": {"system:serviceaccount:mine:generic-garbage-collector", before, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			if asked := meets(t, Policies("berth-system")[0].Conditions, test.by, test.before, test.after); asked != test.asked {
				t.Errorf("asked is %t", asked)
			}
		})
	}
}

// meets says whether a request meets all conditions, as the API server evaluates them.
func meets(t *testing.T, conditions []admissionv1.MatchCondition, by, before, after string) bool {
	t.Helper()
	env, err := cel.NewEnv(cel.OptionalTypes(), cel.Variable("object", cel.DynType),
		cel.Variable("oldObject", cel.DynType), cel.Variable("request", cel.DynType))
	if err != nil {
		t.Fatal(err)
	}
	given := map[string]any{"request": map[string]any{"userInfo": map[string]any{"username": by}}}
	for variable, text := range map[string]string{"object": after, "oldObject": before} {
		var value map[string]any
		if err := yaml.Unmarshal([]byte(text), &value); err != nil {
			t.Fatal(err)
		}
		if given[variable] = any(value); value == nil {
			given[variable] = nil
		}
	}
	for _, c := range conditions {
		parsed, issues := env.Compile(c.Expression)
		if issues.Err() != nil {
			t.Fatal(issues.Err())
		}
		program, err := env.Program(parsed)
		if err != nil {
			t.Fatal(err)
		}
		met, _, err := program.Eval(given)
		if err != nil {
			t.Fatalf("%s: %v", c.Expression, err)
		}
		if met.Value() != true {
			return false
		}
	}
	return true
}
