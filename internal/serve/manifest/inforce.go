package manifest

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

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
