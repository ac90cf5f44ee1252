package guard

import (
	"context"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/serve/manifest"
)

// Stands returns nil if the cluster has the policy and its binding as this version prints
// them; otherwise an error that says what is missing: FAILED, or PERMISSION_DENIED if the
// caller may not see it.
func Stands(ctx context.Context, client dynamic.Interface) error {
	policy, binding := &admissionv1.ValidatingAdmissionPolicy{}, &admissionv1.ValidatingAdmissionPolicyBinding{}
	if err := read(ctx, client, "validatingadmissionpolicies", policy); err != nil {
		return missing(err, "ValidatingAdmissionPolicy", "validatingadmissionpolicies")
	}
	if err := read(ctx, client, "validatingadmissionpolicybindings", binding); err != nil {
		return missing(err, "ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings")
	}
	return compare(policy, binding)
}

func read(ctx context.Context, client dynamic.Interface, resource string, into any) error {
	object, err := client.Resource(admissionv1.SchemeGroupVersion.WithResource(resource)).Get(ctx, lifecycle.Guard, metav1.GetOptions{})
	if err != nil {
		return err
	}
	return runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, into)
}

// compare returns an error unless they are what this version prints.
func compare(policy *admissionv1.ValidatingAdmissionPolicy, binding *admissionv1.ValidatingAdmissionPolicyBinding) error {
	wanted, bound := Policy().Objects(manifest.Role{Name: Role})
	filled(&wanted.Spec)
	switch {
	case policy.DeletionTimestamp != nil || !equality.Semantic.DeepEqual(policy.Spec, wanted.Spec):
		return differs("ValidatingAdmissionPolicy")
	case binding.DeletionTimestamp != nil || !equality.Semantic.DeepEqual(unlimited(binding.Spec), bound.Spec):
		return differs("ValidatingAdmissionPolicyBinding")
	}
	return nil
}

// filled has what the API server fills in.
func filled(spec *admissionv1.ValidatingAdmissionPolicySpec) {
	equivalent, all := admissionv1.Equivalent, admissionv1.AllScopes
	m := spec.MatchConstraints
	m.MatchPolicy, m.NamespaceSelector = &equivalent, &metav1.LabelSelector{}
	if m.ObjectSelector == nil {
		m.ObjectSelector = &metav1.LabelSelector{}
	}
	for i := range m.ResourceRules {
		if m.ResourceRules[i].Scope == nil {
			m.ResourceRules[i].Scope = &all
		}
	}
}

// unlimited is a binding without what limits it to nothing in particular.
func unlimited(spec admissionv1.ValidatingAdmissionPolicyBindingSpec) admissionv1.ValidatingAdmissionPolicyBindingSpec {
	equivalent := admissionv1.Equivalent
	everything := &admissionv1.MatchResources{MatchPolicy: &equivalent, NamespaceSelector: &metav1.LabelSelector{}, ObjectSelector: &metav1.LabelSelector{}}
	if equality.Semantic.DeepEqual(spec.MatchResources, everything) {
		spec.MatchResources = nil
	}
	return spec
}

const hint = "apply what `berth serve manifests workspaces` prints, or use --trust-records, which does whatever is recorded, but for deleting storage"

func missing(err error, kind, resource string) error {
	if apierrors.IsNotFound(err) {
		return fault.New(fault.Failed, "the cluster has no %s %s, so that anybody who may write records could start and delete by them", kind, lifecycle.Guard).WithHint(hint)
	}
	err = kube.Fault(err, kube.Call{Verb: "get", Resource: resource, Name: lifecycle.Guard})
	if fault.CodeOf(err) == fault.PermissionDenied {
		return fault.New(fault.PermissionDenied, "whether the cluster guards records is not known: %w", err).WithHint(hint)
	}
	return err
}

func differs(kind string) error {
	return fault.New(fault.Failed, "%s %s is not as this version of berth has it", kind, lifecycle.Guard).WithHint(hint)
}
