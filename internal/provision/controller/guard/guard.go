package guard

import (
	"context"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/lifecycle"
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
	if differs := Policy().Differs(Role, policy, binding); differs != "" {
		return fault.New(fault.Failed, "the admission policy %s is another one: %s", lifecycle.Guard, differs).
			WithHint(hint)
	}
	return nil
}

func read(ctx context.Context, client dynamic.Interface, resource string, into any) error {
	object, err := client.Resource(admissionv1.SchemeGroupVersion.WithResource(resource)).
		Get(ctx, lifecycle.Guard, metav1.GetOptions{})
	if err != nil {
		return err
	}
	return runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, into)
}

const hint = "apply what `berth serve manifests workspaces` prints, or use --trust-records, which does whatever is " +
	"recorded, but for deleting storage"

func missing(err error, kind, resource string) error {
	if apierrors.IsNotFound(err) {
		return fault.New(fault.Failed,
			"the cluster has no %s %s, so that anybody who may write records could start and delete by them", kind,
			lifecycle.Guard).WithHint(hint)
	}
	err = kube.Fault(err, kube.Call{Verb: "get", Resource: resource, Name: lifecycle.Guard})
	if fault.CodeOf(err) == fault.PermissionDenied {
		return fault.New(fault.PermissionDenied, "whether the cluster guards records is not known: %w", err).
			WithHint(hint)
	}
	return err
}
