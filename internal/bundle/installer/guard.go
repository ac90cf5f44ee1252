// Package installer says as whom what a bundle contains is installed: which ServiceAccount
// that is, who may name one, and what no bundle touches.
package installer

import (
	"context"
	"strings"
	"sync"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/bundle/server"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/serve/manifest"
)

const reasonForbidden = metav1.StatusReasonForbidden

// Guard knows whether the API server asks the authors of instances for their rights.
type Guard struct {
	Client dynamic.Interface
	// System is the system namespace, which the policies name.
	System string
	Now    func() time.Time

	mu    sync.Mutex
	until time.Time // what was found counts
}

// known is how long it counts that the policies are there.
const known = 30 * time.Second

// Check returns an error unless Policies are in force: without them an instance could name any
// ServiceAccount. That they are is remembered for a while.
func (g *Guard) Check(ctx context.Context) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.Now().Before(g.until) {
		return nil
	}
	for _, p := range Policies(g.System) {
		if err := g.inForce(ctx, p); err != nil {
			return err
		}
	}
	g.until = g.Now().Add(known)
	return nil
}

// inForce returns an error unless the policy and its binding are those that it is printed as.
func (g *Guard) inForce(ctx context.Context, p manifest.Policy) error {
	name := manifest.PolicyName(server.Role, p.Name)
	var policy admissionv1.ValidatingAdmissionPolicy
	if err := g.get(ctx, "validatingadmissionpolicies", name, &policy); err != nil {
		return err
	}
	var binding admissionv1.ValidatingAdmissionPolicyBinding
	if err := g.get(ctx, "validatingadmissionpolicybindings", name, &binding); err != nil {
		return err
	}
	if differs := p.Differs(server.Role, &policy, &binding); differs != "" {
		return unguarded("the admission policy %s is another one: %s", name, differs)
	}
	return nil
}

func (g *Guard) get(ctx context.Context, resource, name string, into any) error {
	found, err := g.Client.Resource(admissionv1.SchemeGroupVersion.WithResource(resource)).
		Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return unguarded("the cluster has no %s %s", resource, name)
	case err != nil:
		return kube.Fault(err, kube.Call{Verb: "get", Resource: resource + "." + admissionv1.GroupName, Name: name})
	}
	return runtime.DefaultUnstructuredConverter.FromUnstructured(found.Object, into)
}

// unguarded is why no instance is installed as a ServiceAccount that it names.
func unguarded(format string, args ...any) error {
	return fault.New(fault.PermissionDenied,
		"the instance names a ServiceAccount, and nobody has checked that its author may act as it: "+format, args...).
		WithHint("apply the objects that `berth serve manifests bundles` prints, then change the instance again")
}

// The names of the policies, after that of the role.
const (
	policyInstances = "instances"
	policyContents  = "contents"
)

// The garbage collector deletes an instance with what it belongs to, and takes off the
// finalizers of a deletion that waits. Which of these users it is depends on how the cluster
// is set up; nobody else is one of them.
const (
	userCollector   = "system:serviceaccount:kube-system:generic-garbage-collector"
	userControllers = "system:kube-controller-manager"
)

// Policies let nobody have something installed as a ServiceAccount but those who may act as
// it: the author of an instance that names one, anyone who deletes it or says what became of it,
// and anyone who makes the bundle of such an instance or says what it was resolved to. The
// server in this system namespace is known by its name: it says of an instance, too, that it
// may not act as the ServiceAccount.
func Policies(system string) []manifest.Policy {
	return []manifest.Policy{
		{
			Name: policyInstances,
			// Deleting an instance removes what it installed, as its ServiceAccount.
			Rules: rules([]admissionv1.OperationType{admissionv1.Create, admissionv1.Update, admissionv1.Delete},
				"bundleinstances", "bundleinstances/status"),
			Conditions: []admissionv1.MatchCondition{
				{Name: "by-others", Expression: notBy(kube.UserOf(manifest.Account(server.Role, system)), userCollector,
					userControllers)},
				// An owner that is gone deletes it, a finalizer keeps it, and an annotation says that it is
				// being uninstalled.
				{Name: "changes-what-counts", Expression: changes("spec", "status", "metadata.ownerReferences",
					"metadata.finalizers", "metadata.annotations", "metadata.labels")},
			},
			Variables: []admissionv1.Variable{{
				Name: "accounts",
				Expression: "[object, oldObject].filter(o, o != null && has(o.spec.serviceAccount)).map(o, " +
					"[o.spec.serviceAccount.namespace, o.spec.serviceAccount.name])",
			}},
			Checks: mayActAs(),
		},
		{
			Name: policyContents,
			Rules: rules([]admissionv1.OperationType{admissionv1.Create, admissionv1.Update}, "bundles",
				"bundles/status"),
			Conditions: []admissionv1.MatchCondition{{
				Name:       "changes-more-than-finalizers",
				Expression: changes("spec", "status", "metadata.annotations", "metadata.labels"),
			}},
			Variables: []admissionv1.Variable{{
				Name: "accounts",
				Expression: "[object, oldObject].filter(o, o != null && '" + v1alpha1.AnnotationServiceAccount +
					"' in o.metadata.?annotations.orValue({}))" +
					".map(o, o.metadata.annotations['" + v1alpha1.AnnotationServiceAccount + "'].split('/'))",
			}},
			Checks: mayActAs(),
		},
	}
}

// notBy is true for a request of anybody but these users.
func notBy(users ...string) string {
	return "!(request.userInfo.username in ['" + strings.Join(users, "', '") + "'])"
}

// changes is true for an object that is new or deleted, and for one of which one of these fields
// changes; a field may be missing, its parent may not.
func changes(fields ...string) string {
	different := []string{"object == null", "oldObject == null"}
	for _, field := range fields {
		parent, name := "", field
		if i := strings.LastIndex(field, "."); i >= 0 {
			parent, name = "."+field[:i], field[i+1:]
		}
		different = append(different, "object"+parent+".?"+name+" != oldObject"+parent+".?"+name)
	}
	return strings.Join(different, " || ")
}

// rules are the writes of resources by which somebody chooses what is installed.
func rules(operations []admissionv1.OperationType, resources ...string) []admissionv1.RuleWithOperations {
	return []admissionv1.RuleWithOperations{{
		Operations: operations,
		Rule: admissionv1.Rule{
			APIGroups: []string{v1alpha1.Group}, APIVersions: []string{"*"},
			Resources: resources,
		},
	}}
}

// mayActAs asks the API server whether the author may impersonate each of the accounts, which
// are pairs of a namespace and a name.
func mayActAs() []admissionv1.Validation {
	return []admissionv1.Validation{{
		Expression: "variables.accounts.all(a, a.size() == 2 && " +
			"authorizer.group('').resource('serviceaccounts').namespace(a[0])." +
			"name(a[1]).check('impersonate').allowed())",
		MessageExpression: "'what is installed as a ServiceAccount is chosen by those who may impersonate it; ' + " +
			"request.userInfo.username + " +
			"' may not impersonate all of: ' + variables.accounts.map(a, a.join('/')).join(', ')",
		Reason: new(reasonForbidden),
	}}
}
