package rbac

import (
	"context"
	"slices"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// Review is what the API server says the caller may do in a namespace.
type Review struct {
	Namespace string
	Rules     []authorizationv1.ResourceRule
	// Incomplete is true if the API server cannot list everything: an authorizer behind a webhook, such as a cloud's,
	// may allow more.
	Incomplete bool
}

// Ask asks the API server, in one request. For a caller who may not ask, the review is incomplete.
func Ask(ctx context.Context, client kube.Interface, namespace string) (Review, error) {
	answer, err := client.AuthorizationV1().SelfSubjectRulesReviews().
		Create(ctx, &authorizationv1.SelfSubjectRulesReview{
			Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: namespace},
		}, metav1.CreateOptions{})
	err = kube.Fault(err, kube.Call{Verb: "create", Resource: "selfsubjectrulesreviews.authorization.k8s.io"})
	switch fault.CodeOf(err) {
	case "":
		return Review{Namespace: namespace, Rules: answer.Status.ResourceRules, Incomplete: answer.Status.Incomplete},
			nil
	case fault.PermissionDenied, fault.NotFound:
		return Review{Namespace: namespace, Incomplete: true}, nil
	}
	return Review{}, err
}

// Missing are the accesses that the caller does not have; none if the review is incomplete.
func (r Review) Missing(needs []Access) (missing []Access) {
	if r.Incomplete {
		return nil
	}
	for _, need := range needs {
		if !slices.ContainsFunc(r.Rules, func(rule authorizationv1.ResourceRule) bool { return covers(rule, need) }) {
			missing = append(missing, need)
		}
	}
	return missing
}

// covers reports whether a rule allows an access. If the name is not known, a rule for some names counts, except for
// verbs to which names do not apply.
func covers(rule authorizationv1.ResourceRule, a Access) bool {
	has := func(list []string, wanted ...string) bool {
		return slices.Contains(list, "*") ||
			slices.ContainsFunc(wanted, func(w string) bool { return slices.Contains(list, w) })
	}
	resources := []string{a.Resource}
	if _, sub, divided := strings.Cut(a.Resource, "/"); divided {
		resources = append(resources, "*/"+sub)
	}
	if !has(rule.Verbs, a.Verb) || !has(rule.APIGroups, a.Group) || !has(rule.Resources, resources...) {
		return false
	}
	switch {
	case len(rule.ResourceNames) == 0:
		return true
	case a.Name != "":
		return slices.Contains(rule.ResourceNames, a.Name)
	}
	return a.Verb != "create" && a.Verb != "deletecollection"
}

// Denied is the error about all missing permissions of a command; nil if no permission is missing. Doing is what they
// are needed for: provisioning alice-2bd806c.
func (c Command) Denied(doing, namespace string, missing []Access) error {
	if len(missing) == 0 {
		return nil
	}
	err := fault.New(fault.PermissionDenied, "you may not %s in namespace %s, which %s requires; nothing was changed",
		missing[0], namespace, doing)
	if len(missing) > 1 {
		err.Message = "you lack permissions that " + doing + " requires; nothing was changed"
		for _, a := range missing {
			err.Problems = append(err.Problems, a.String()+" in namespace "+namespace)
		}
	}
	return err.WithHint("ask for the Role %s of docs/rbac.md (`berth help rbac`, `berth doctor`); check with: %s",
		c.ObjectName(), CanI(missing[0], namespace))
}

// CanI is the kubectl command that checks an access.
func CanI(a Access, namespace string) string {
	return "kubectl auth can-i " + a.String() + " --namespace " + namespace
}
