package installer

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/serve/manifest"
)

// The names of the policies, after that of the role.
const (
	policyInstances = "instances"
	policyContents  = "contents"
)

// Policies let nobody have something installed as a ServiceAccount but those who may act as
// it: the author of an instance that names one, whoever deletes it, and whoever makes the bundle
// of such an instance or says what it was resolved to.
func Policies() []manifest.Policy {
	return []manifest.Policy{
		{
			Name: policyInstances,
			// Deleting an instance removes what it installed, as its ServiceAccount.
			Rules: rules([]admissionv1.OperationType{admissionv1.Create, admissionv1.Update, admissionv1.Delete}, "bundleinstances"),
			Conditions: []admissionv1.MatchCondition{{
				Name: "changes-what-is-wanted", Expression: "object == null || oldObject == null || object.spec != oldObject.spec",
			}},
			Variables: []admissionv1.Variable{{
				Name:       "accounts",
				Expression: "[object, oldObject].filter(o, o != null && has(o.spec.serviceAccount)).map(o, [o.spec.serviceAccount.namespace, o.spec.serviceAccount.name])",
			}},
			Checks: mayActAs(),
		},
		{
			Name:  policyContents,
			Rules: rules([]admissionv1.OperationType{admissionv1.Create, admissionv1.Update}, "bundles", "bundles/status"),
			Conditions: []admissionv1.MatchCondition{{
				Name: "changes-more-than-finalizers",
				Expression: "oldObject == null || object.spec != oldObject.spec || object.?status != oldObject.?status || " +
					"object.metadata.?annotations != oldObject.metadata.?annotations || object.metadata.?labels != oldObject.metadata.?labels",
			}},
			Variables: []admissionv1.Variable{{
				Name: "accounts",
				Expression: "[object, oldObject].filter(o, o != null && '" + v1alpha1.AnnotationServiceAccount + "' in o.metadata.?annotations.orValue({}))" +
					".map(o, o.metadata.annotations['" + v1alpha1.AnnotationServiceAccount + "'].split('/'))",
			}},
			Checks: mayActAs(),
		},
	}
}

// rules are the writes of resources by which somebody chooses what is installed.
func rules(operations []admissionv1.OperationType, resources ...string) []admissionv1.RuleWithOperations {
	return []admissionv1.RuleWithOperations{{
		Operations: operations,
		Rule:       admissionv1.Rule{APIGroups: []string{v1alpha1.Group}, APIVersions: []string{"*"}, Resources: resources},
	}}
}

// mayActAs asks the API server whether the author may impersonate each of the accounts, which
// are pairs of a namespace and a name.
func mayActAs() []admissionv1.Validation {
	return []admissionv1.Validation{{
		Expression: "variables.accounts.all(a, a.size() == 2 && " +
			"authorizer.group('').resource('serviceaccounts').namespace(a[0]).name(a[1]).check('impersonate').allowed())",
		MessageExpression: "'what is installed as a ServiceAccount is chosen by those who may impersonate it; ' + request.userInfo.username + " +
			"' may not impersonate all of: ' + variables.accounts.map(a, a.join('/')).join(', ')",
		Reason: new(reasonForbidden),
	}}
}
