package manifest

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	meta := metav1.ObjectMeta{Name: name, Labels: r.labels()}
	policy := &admissionv1.ValidatingAdmissionPolicy{
		TypeMeta: metav1.TypeMeta{
			APIVersion: admissionv1.SchemeGroupVersion.String(),
			Kind:       "ValidatingAdmissionPolicy",
		},
		ObjectMeta: meta,
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			FailurePolicy: &fail, MatchConstraints: constraints, MatchConditions: p.Conditions,
			Variables: p.Variables, Validations: p.Checks,
		},
	}
	binding := &admissionv1.ValidatingAdmissionPolicyBinding{
		TypeMeta: metav1.TypeMeta{
			APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "ValidatingAdmissionPolicyBinding",
		},
		ObjectMeta: meta,
		Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: name, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
		},
	}
	return policy, binding
}

// Differs says in which respect a policy and its binding, as the cluster has them, are not what is printed for a role;
// empty if they are, with what the API server fills in.
func (p Policy) Differs(role string, policy *admissionv1.ValidatingAdmissionPolicy,
	binding *admissionv1.ValidatingAdmissionPolicyBinding,
) string {
	wanted, bound := p.Objects(Role{Name: role})
	switch {
	case policy.DeletionTimestamp != nil || binding.DeletionTimestamp != nil:
		return "it is being deleted"
	case !equality.Semantic.DeepEqual(filledIn(policy.Spec), filledIn(wanted.Spec)):
		return "its spec is not the one that is printed"
	case !equality.Semantic.DeepEqual(unlimited(binding.Spec), bound.Spec):
		return "its binding is not the one that is printed"
	}
	return ""
}

// filledIn is a spec with the defaults of the API server.
func filledIn(spec admissionv1.ValidatingAdmissionPolicySpec) admissionv1.ValidatingAdmissionPolicySpec {
	spec = *spec.DeepCopy()
	m := spec.MatchConstraints
	if m == nil {
		return spec
	}
	if m.MatchPolicy == nil {
		m.MatchPolicy = new(admissionv1.Equivalent)
	}
	if m.NamespaceSelector == nil {
		m.NamespaceSelector = &metav1.LabelSelector{}
	}
	if m.ObjectSelector == nil {
		m.ObjectSelector = &metav1.LabelSelector{}
	}
	for i := range m.ResourceRules {
		if m.ResourceRules[i].Scope == nil {
			m.ResourceRules[i].Scope = new(admissionv1.AllScopes)
		}
	}
	return spec
}

// unlimited is the spec of a binding without what limits it to nothing in particular.
func unlimited(spec admissionv1.ValidatingAdmissionPolicyBindingSpec) admissionv1.ValidatingAdmissionPolicyBindingSpec {
	everything := &admissionv1.MatchResources{
		MatchPolicy: new(admissionv1.Equivalent), NamespaceSelector: &metav1.LabelSelector{},
		ObjectSelector: &metav1.LabelSelector{},
	}
	if equality.Semantic.DeepEqual(spec.MatchResources, everything) {
		spec.MatchResources = nil
	}
	return spec
}
