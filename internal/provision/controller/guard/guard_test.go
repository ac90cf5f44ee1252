package guard

import (
	"fmt"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/serve/manifest"
)

// The policy is what it is printed as, with what an API server fills in; less of it, or less
// that it is bound to, is not believed.
func TestStands(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*admissionv1.ValidatingAdmissionPolicy, *admissionv1.ValidatingAdmissionPolicyBinding)
		want   string // in the error, or none
	}{
		"as it is printed": {
			func(*admissionv1.ValidatingAdmissionPolicy, *admissionv1.ValidatingAdmissionPolicyBinding) {},
			"",
		},
		"a check is missing": {func(p *admissionv1.ValidatingAdmissionPolicy,
			_ *admissionv1.ValidatingAdmissionPolicyBinding,
		) {
			p.Spec.Validations = p.Spec.Validations[1:]
		}, "berth-workspaces-records is another one: its spec"},
		"what fails is admitted": {func(p *admissionv1.ValidatingAdmissionPolicy,
			_ *admissionv1.ValidatingAdmissionPolicyBinding,
		) {
			ignore := admissionv1.Ignore
			p.Spec.FailurePolicy = &ignore
		}, "berth-workspaces-records is another one: its spec"},
		"some namespaces": {func(p *admissionv1.ValidatingAdmissionPolicy,
			_ *admissionv1.ValidatingAdmissionPolicyBinding,
		) {
			p.Spec.MatchConstraints.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}
		}, "berth-workspaces-records is another one: its spec"},
		"it only warns": {func(_ *admissionv1.ValidatingAdmissionPolicy,
			b *admissionv1.ValidatingAdmissionPolicyBinding,
		) {
			b.Spec.ValidationActions = []admissionv1.ValidationAction{admissionv1.Warn}
		}, "berth-workspaces-records is another one: its binding"},
		"it is bound to some": {func(_ *admissionv1.ValidatingAdmissionPolicy,
			b *admissionv1.ValidatingAdmissionPolicyBinding,
		) {
			b.Spec.MatchResources = &admissionv1.MatchResources{
				ObjectSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}},
			}
		}, "berth-workspaces-records is another one: its binding"},
		"it is another's": {func(_ *admissionv1.ValidatingAdmissionPolicy,
			b *admissionv1.ValidatingAdmissionPolicyBinding,
		) {
			b.Spec.PolicyName = "other"
		}, "berth-workspaces-records is another one: its binding"},
	} {
		policy, binding := Policy().Objects(manifest.Role{Name: Role})
		filled(&policy.Spec)
		c.change(policy, binding)
		err := Stands(t.Context(), fake.NewSimpleDynamicClient(scheme.Scheme, policy, binding))
		if got := fmt.Sprint(err); c.want == "" && err != nil || !strings.Contains(got, c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// Without the policy, or without its binding, nothing is believed.
func TestStandsWithout(t *testing.T) {
	policy, _ := Policy().Objects(manifest.Role{Name: Role})
	filled(&policy.Spec)
	for name, client := range map[string]*fake.FakeDynamicClient{
		"nothing":    fake.NewSimpleDynamicClient(scheme.Scheme),
		"no binding": fake.NewSimpleDynamicClient(scheme.Scheme, policy),
	} {
		if err := Stands(t.Context(), client); fault.CodeOf(err) != fault.Failed ||
			!strings.Contains(err.Error(), "the cluster has no") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if name := manifest.PolicyName(Role, Name); name != lifecycle.Guard {
		t.Errorf("it is named %s", name)
	}
}

// filled has what an API server fills in.
func filled(spec *admissionv1.ValidatingAdmissionPolicySpec) {
	m := spec.MatchConstraints
	m.MatchPolicy, m.NamespaceSelector, m.ObjectSelector = new(admissionv1.Equivalent), &metav1.LabelSelector{},
		&metav1.LabelSelector{}
	for i := range m.ResourceRules {
		m.ResourceRules[i].Scope = new(admissionv1.AllScopes)
	}
}
