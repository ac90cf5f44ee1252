package manifest

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Policy is an admission policy: what somebody may write of what a role acts upon. The API server evaluates it with the
// rights of the author of a change, in CEL, and refuses what it cannot evaluate.
type Policy struct {
	// Name is the end of the names of the policy and its binding, after that of the role.
	Name string
	// Rules are the requests that it is asked about, and Selector the objects; nil for all.
	Rules    []admissionv1.RuleWithOperations
	Selector *metav1.LabelSelector
	// Conditions limit it further: it is asked about a request that meets all of them.
	Conditions []admissionv1.MatchCondition
	Variables  []admissionv1.Variable
	Checks     []admissionv1.Validation
}

// PolicyName is the name of a role's policy, and of its binding.
func PolicyName(role, policy string) string { return "berth-" + role + "-" + policy }

// policies are the admission policies of a role. They are printed before what they guard.
func (r Role) policies() (objects []runtime.Object) {
	for _, p := range r.Policies {
		policy, binding := p.Objects(r)
		objects = append(objects, policy, binding)
	}
	return objects
}

// policyNames are the names of a role's policies, which are those of their bindings.
func (r Role) policyNames() (names []string) {
	for _, p := range r.Policies {
		names = append(names, PolicyName(r.Name, p.Name))
	}
	return names
}

// Objects are the policy of a role, and what binds it to all that it is asked about.
func (p Policy) Objects(r Role) (*admissionv1.ValidatingAdmissionPolicy,
	*admissionv1.ValidatingAdmissionPolicyBinding,
) {
	name, fail := PolicyName(r.Name, p.Name), admissionv1.Fail
	constraints := &admissionv1.MatchResources{ObjectSelector: p.Selector}
	for _, rule := range p.Rules {
		constraints.ResourceRules = append(constraints.ResourceRules,
			admissionv1.NamedRuleWithOperations{RuleWithOperations: rule})
	}
	policy := &admissionv1.ValidatingAdmissionPolicy{
		ObjectMeta: r.global(name),
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			FailurePolicy: &fail, MatchConstraints: constraints, MatchConditions: p.Conditions,
			Variables: p.Variables, Validations: p.Checks,
		},
	}
	binding := &admissionv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: r.global(name),
		Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: name, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
		},
	}
	return policy, binding
}
