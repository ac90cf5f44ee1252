package installer

import (
	"context"
	"strings"
	"testing"
	"time"

	"cel.dev/cel-go/cel"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	"github.com/berthdev/berth/internal/bundle/server"
	"github.com/berthdev/berth/internal/serve/manifest"
)

const system = "berth-system"

// inForce are the policies as an API server has them: with its defaults.
func inForce() (policies []*admissionv1.ValidatingAdmissionPolicy,
	bindings []*admissionv1.ValidatingAdmissionPolicyBinding,
) {
	for _, p := range Policies(system) {
		name, fail, equivalent, all := manifest.PolicyName(server.Role, p.Name), admissionv1.Fail,
			admissionv1.Equivalent, admissionv1.AllScopes
		rule := admissionv1.NamedRuleWithOperations{RuleWithOperations: p.Rules[0]}
		rule.Scope = &all
		policies = append(policies, &admissionv1.ValidatingAdmissionPolicy{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: admissionv1.ValidatingAdmissionPolicySpec{
				FailurePolicy: &fail, MatchConditions: p.Conditions, Variables: p.Variables, Validations: p.Checks,
				MatchConstraints: &admissionv1.MatchResources{
					MatchPolicy: &equivalent, NamespaceSelector: &metav1.LabelSelector{},
					ObjectSelector: &metav1.LabelSelector{},
					ResourceRules:  []admissionv1.NamedRuleWithOperations{rule},
				},
			},
		})
		bindings = append(bindings, &admissionv1.ValidatingAdmissionPolicyBinding{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
				PolicyName:        name,
				ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
			},
		})
	}
	return policies, bindings
}

// Policies guard as they are printed, with a binding that refuses, and no other way.
func TestGuard(t *testing.T) {
	type policies = []*admissionv1.ValidatingAdmissionPolicy
	type bindings = []*admissionv1.ValidatingAdmissionPolicyBinding
	for name, test := range map[string]struct {
		change func(policies, bindings)
		says   string
	}{
		"as they are printed": {func(policies, bindings) {}, ""},
		"one is missing": {
			func(p policies, _ bindings) { p[0].Name = "x" },
			"no validatingadmissionpolicies berth-bundles-instances",
		},
		"a binding is missing": {
			func(_ policies, b bindings) { b[1].Name = "x" },
			"no validatingadmissionpolicybindings berth-bundles-contents",
		},
		"a binding only audits": {func(_ policies,
			b bindings,
		) {
			b[0].Spec.ValidationActions[0] = admissionv1.Audit
		}, "its binding is not the one"},
		"a binding leaves out": {func(_ policies,
			b bindings,
		) {
			b[0].Spec.MatchResources = &admissionv1.MatchResources{}
		}, "its binding is not the one"},
		"a policy allows all": {func(p policies,
			_ bindings,
		) {
			p[0].Spec.Validations = []admissionv1.Validation{{Expression: "true"}}
		}, "its spec is not the one"},
		"a policy excepts some": {func(p policies,
			_ bindings,
		) {
			p[0].Spec.MatchConditions[0].Expression = "false"
		}, "its spec is not the one"},
		"a policy is not asked": {
			func(p policies, _ bindings) { p[1].Spec.MatchConstraints.ResourceRules = nil },
			"its spec is not the one",
		},
		"a policy ignores": {func(p policies,
			_ bindings,
		) {
			p[1].Spec.FailurePolicy = new(admissionv1.Ignore)
		}, "its spec is not the one"},
		"a policy is on its way": {func(p policies,
			_ bindings,
		) {
			p[0].DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
		}, "it is being deleted"},
		"a policy knows another server": {func(p policies,
			_ bindings,
		) {
			p[0].Spec.MatchConditions = Policies("mine")[0].Conditions
		}, "its spec is not the one"},
		"a policy selects objects": {func(p policies, _ bindings) {
			p[0].Spec.MatchConstraints.ObjectSelector.MatchLabels = map[string]string{"a": "b"}
		}, "its spec is not the one"},
	} {
		t.Run(name, func(t *testing.T) {
			p, b := inForce()
			test.change(p, b)
			var all []runtime.Object
			for i := range p {
				all = append(all, p[i], b[i])
			}
			g := &Guard{
				Client: dynamicfake.NewSimpleDynamicClient(scheme.Scheme, all...), System: system,
				Now: time.Now,
			}
			err := g.Check(t.Context())
			if (err != nil) != (test.says != "") || err != nil && !strings.Contains(err.Error(), test.says) {
				t.Errorf("%v, want %q", err, test.says)
			}
		})
	}
}

// That policies guard is asked again after a while, and that they do not at once.
func TestGuardRemembers(t *testing.T) {
	p, b := inForce()
	client := dynamicfake.NewSimpleDynamicClient(scheme.Scheme, p[0], b[0], p[1], b[1])
	now := time.Unix(1e9, 0)
	g := &Guard{Client: client, System: system, Now: func() time.Time { return now }}
	if err := g.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	bindings := client.Resource(admissionv1.SchemeGroupVersion.WithResource("validatingadmissionpolicybindings"))
	if err := bindings.Delete(context.Background(), b[0].Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := g.Check(t.Context()); err != nil {
		t.Errorf("it is not remembered: %v", err)
	}
	now = now.Add(known)
	if g.Check(t.Context()) == nil {
		t.Error("it is remembered for ever")
	}
}

// Authors are asked for what counts of an instance that is installed as a ServiceAccount, also
// of what the API server, its garbage collector and berth's server write of their own accord;
// these are not asked.
func TestWhoIsAsked(t *testing.T) {
	const (
		collector = "system:serviceaccount:kube-system:generic-garbage-collector"
		berth     = "system:serviceaccount:berth-system:berth-bundles"
		before    = "{metadata: {name: a, annotations: {a: b}, finalizers: [x]}, spec: {serviceAccount: {namespace: " +
			"shop, name: d}}, status: {installedBundleName: a-1}}"
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
			"{metadata: {name: a, resourceVersion: '2', managedFields: [x], annotations: {a: b}, finalizers: [x]}, " +
				"spec: {serviceAccount: {namespace: shop, name: d}}, status: {installedBundleName: a-1}}", false,
		},
		"changes what is wanted": {
			"alice", before,
			"{metadata: {name: a, annotations: {a: b}, finalizers: [x]}, spec: {}, status: {installedBundleName: a-1}}",
			true,
		},
		"gives it an owner": {
			"alice", before,
			"{metadata: {name: a, annotations: {a: b}, finalizers: [x], ownerReferences: [{kind: Pod}]}, spec: " +
				"{serviceAccount: {namespace: shop, name: d}}, status: {installedBundleName: a-1}}", true,
		},
		"takes off a finalizer": {
			"alice", before,
			"{metadata: {name: a, annotations: {a: b}}, spec: {serviceAccount: {namespace: shop, name: d}}, status: " +
				"{installedBundleName: a-1}}", true,
		},
		"says that it is uninstalled": {
			"alice", before,
			"{metadata: {name: a, annotations: {a: b, berth.dev/uninstalling: now}, finalizers: [x]}, spec: " +
				"{serviceAccount: {namespace: shop, name: d}}, status: {installedBundleName: a-1}}", true,
		},
		"labels it": {
			"alice", before,
			"{metadata: {name: a, labels: {a: b}, annotations: {a: b}, finalizers: [x]}, spec: {serviceAccount: " +
				"{namespace: shop, name: d}}, status: {installedBundleName: a-1}}", true,
		},
		"says what is installed": {
			"alice", before,
			"{metadata: {name: a, annotations: {a: b}, finalizers: [x]}, spec: {serviceAccount: {namespace: shop, " +
				"name: d}}, status: {installedBundleName: b}}", true,
		},
		"is the server": {
			berth, before,
			"{metadata: {name: a, annotations: {a: b}, finalizers: [x]}, spec: {serviceAccount: {namespace: shop, " +
				"name: d}}, status: {installedBundleName: b}}", false,
		},
		"is the server of another place": {
			"system:serviceaccount:mine:berth-bundles", before,
			"{metadata: {name: a}, spec: {}}", true,
		},
		"collects it":                 {collector, before, "", false},
		"collects without an account": {"system:kube-controller-manager", before, "", false},
		"collects it in the foreground": {
			collector, before,
			"{metadata: {name: a, annotations: {a: b}}, spec: {serviceAccount: {namespace: shop, name: d}}, status: " +
				"{installedBundleName: a-1}}", false,
		},
		"is named as the collector": {"system:serviceaccount:mine:generic-garbage-collector", before, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			if asked := meets(t, Policies("berth-system")[0].Conditions, test.by, test.before,
				test.after); asked != test.asked {
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
