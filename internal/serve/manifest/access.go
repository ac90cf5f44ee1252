package manifest

import (
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// namespace is a place in which only confined pods run.
func namespace(o Options) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: o.Namespace, Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}
}

// access are the ServiceAccount of a role and what it may do.
func (r Role) access(o Options) []runtime.Object {
	local := metav1.ObjectMeta{Name: r.objectName(), Namespace: o.Namespace, Labels: r.labels()}
	objects := []runtime.Object{
		&corev1.ServiceAccount{ObjectMeta: local},
		&rbacv1.ClusterRole{ObjectMeta: r.global(r.objectName()), Rules: r.Everywhere.PolicyRules()},
		r.bind(o),
	}
	if rules := r.InSystem.PolicyRules(); len(rules) > 0 {
		objects = append(objects,
			&rbacv1.Role{ObjectMeta: local, Rules: rules},
			&rbacv1.RoleBinding{ObjectMeta: local, RoleRef: roleRef("Role", r.objectName()), Subjects: r.account(o)})
	}
	if rules := r.Guard.PolicyRulesOf(r.policyNames()...); len(rules) > 0 {
		name := r.objectName() + "-guard"
		objects = append(objects, &rbacv1.ClusterRole{ObjectMeta: r.global(name), Rules: rules},
			r.bindEverywhere(o, name, name))
	}
	for _, users := range r.Users {
		objects = append(objects, &rbacv1.ClusterRole{ObjectMeta: r.global(users.Name), Rules: users.Rules})
	}
	return append(objects, r.installing(o)...)
}

// bind gives the role what it may do, in all namespaces or in one.
func (r Role) bind(o Options) runtime.Object {
	if o.Only == "" {
		return r.bindEverywhere(o, r.objectName(), r.objectName())
	}
	there := metav1.ObjectMeta{Name: r.objectName() + "-only", Namespace: o.Only, Labels: r.labels()}
	return &rbacv1.RoleBinding{ObjectMeta: there, RoleRef: roleRef("ClusterRole", r.objectName()), Subjects: r.account(o)}
}

func (r Role) bindEverywhere(o Options, name, role string) *rbacv1.ClusterRoleBinding {
	return &rbacv1.ClusterRoleBinding{
		ObjectMeta: r.global(name), RoleRef: roleRef("ClusterRole", role),
		Subjects: r.account(o),
	}
}

// Account is as what a role runs in a namespace.
func Account(role, namespace string) types.NamespacedName {
	return types.NamespacedName{Namespace: namespace, Name: Role{Name: role}.objectName()}
}

func (r Role) account(o Options) []rbacv1.Subject {
	account := Account(r.Name, o.Namespace)
	return []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: account.Name, Namespace: account.Namespace}}
}

func (r Role) global(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Labels: r.labels()}
}

func roleRef(kind, name string) rbacv1.RoleRef {
	return rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: kind, Name: name}
}
