package manifest

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// installs is true for a role that does as another ServiceAccount what others have chosen.
func (r Role) installs() bool { return len(r.Installer.Rules) > 0 }

// installer is that ServiceAccount.
func (r Role) installer(o Options) types.NamespacedName {
	return types.NamespacedName{Namespace: o.Namespace, Name: r.objectName() + "-installer"}
}

// installing are the installer, which has the install role, and the permissions of the role to act as it, and as the
// others that instances may name: each of them by its name, in its namespace.
func (r Role) installing(o Options) (objects []runtime.Object) {
	if !r.installs() {
		return nil
	}
	installer := r.installer(o)
	objects = append(objects, &corev1.ServiceAccount{ObjectMeta: r.local(installer.Namespace, installer.Name)})
	names := map[string][]string{}
	for _, account := range append([]types.NamespacedName{installer}, o.Accounts...) {
		if !slices.Contains(names[account.Namespace], account.Name) {
			names[account.Namespace] = append(names[account.Namespace], account.Name)
		}
	}
	for _, namespace := range slices.Sorted(maps.Keys(names)) {
		meta := r.local(namespace, r.objectName()+"-impersonate")
		objects = append(objects,
			&rbacv1.Role{ObjectMeta: meta, Rules: r.Installer.PolicyRulesOf(names[namespace]...)},
			&rbacv1.RoleBinding{ObjectMeta: meta, RoleRef: roleRef("Role", meta.Name), Subjects: r.account(o)})
	}
	if o.InstallRole != "" {
		binding := r.bindEverywhere(o, r.objectName()+"-install", o.InstallRole)
		binding.Subjects = []rbacv1.Subject{{
			Kind: rbacv1.ServiceAccountKind, Name: installer.Name,
			Namespace: installer.Namespace,
		}}
		objects = append(objects, binding)
	}
	return objects
}

func (r Role) local(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: namespace, Labels: r.labels()}
}
