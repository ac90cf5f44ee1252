package manifest

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Policy is an admission policy: what somebody may write of what a role acts upon. The API
// server evaluates it with the rights of the author of a change, in CEL, and refuses what
// it cannot evaluate.
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
		objects = append(objects, p.objects(r)...)
	}
	return objects
}

func (p Policy) objects(r Role) []runtime.Object {
	name, fail := PolicyName(r.Name, p.Name), admissionv1.Fail
	constraints := &admissionv1.MatchResources{ObjectSelector: p.Selector}
	for _, rule := range p.Rules {
		constraints.ResourceRules = append(constraints.ResourceRules, admissionv1.NamedRuleWithOperations{RuleWithOperations: rule})
	}
	return []runtime.Object{
		&admissionv1.ValidatingAdmissionPolicy{
			ObjectMeta: r.global(name),
			Spec: admissionv1.ValidatingAdmissionPolicySpec{
				FailurePolicy: &fail, MatchConstraints: constraints, MatchConditions: p.Conditions,
				Variables: p.Variables, Validations: p.Checks,
			},
		},
		&admissionv1.ValidatingAdmissionPolicyBinding{
			ObjectMeta: r.global(name),
			Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
				PolicyName: name, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
			},
		},
	}
}
