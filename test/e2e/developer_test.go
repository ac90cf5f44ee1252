//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/berthdev/berth/internal/rbac"
)

// grant is a Role with its binding, or a ClusterRole where no namespace is named.
type grant struct {
	namespace string
	rules     []rbacv1.PolicyRule
}

// role grants what the documentation's Role of a command gives in the test's
// namespace.
func (w *world) role(c rbac.Command) grant { return grant{w.namespace, c.PolicyRules()} }

// clusterRole grants the same in all namespaces.
func clusterRole(c rbac.Command) grant { return grant{metav1.NamespaceAll, c.PolicyRules()} }

// as is the same world for a berth that is run by another account, which has
// these grants and no others, but for the right to act for any user, if the
// accounts of the namespace have it.
func (w *world) as(grants ...grant) *world {
	w.Helper()
	account, err := w.CoreV1().ServiceAccounts(w.namespace).Create(w.Context(), &corev1.ServiceAccount{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "developer-"},
	}, metav1.CreateOptions{})
	if err != nil {
		w.Fatal(err)
	}
	caller := []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: account.Name, Namespace: w.namespace}}
	for i, g := range grants {
		name := fmt.Sprintf("%s-%d", account.Name, i)
		if g.namespace == metav1.NamespaceAll {
			w.bindEverywhere(w.namespace+"-"+name, g.rules, caller)
		} else {
			w.bind(g.namespace, name, g.rules, caller)
		}
	}
	other := *w
	other.account = account.Name
	other.login()
	other.allowed(grants)
	return &other
}

// actForAnybody lets all accounts of the namespace provision for any user.
func (w *world) actForAnybody() {
	w.Helper()
	w.acting = true
	all := []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: "system:serviceaccounts:" +
		w.namespace}}
	w.bindEverywhere(w.namespace+"-impersonation", rbac.Named(rbac.Impersonation).PolicyRules(), all)
}

// bind binds rules in a namespace, until the test ends.
func (w *world) bind(namespace, name string, rules []rbacv1.PolicyRule, subjects []rbacv1.Subject) {
	w.Helper()
	object := metav1.ObjectMeta{Name: name}
	roles, bindings := w.RbacV1().Roles(namespace), w.RbacV1().RoleBindings(namespace)
	if _, err := roles.Create(w.Context(), &rbacv1.Role{ObjectMeta: object, Rules: rules},
		metav1.CreateOptions{}); err != nil {
		w.Fatal(err)
	}
	_, err := bindings.Create(w.Context(), &rbacv1.RoleBinding{
		ObjectMeta: object, Subjects: subjects,
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
	}, metav1.CreateOptions{})
	if err != nil {
		w.Fatal(err)
	}
	if namespace != w.namespace { // which goes with all that is in it
		w.Cleanup(func() {
			_ = bindings.Delete(context.Background(), name, metav1.DeleteOptions{})
			_ = roles.Delete(context.Background(), name, metav1.DeleteOptions{})
		})
	}
}

// bindEverywhere binds rules in the whole cluster, until the test ends.
func (w *world) bindEverywhere(name string, rules []rbacv1.PolicyRule, subjects []rbacv1.Subject) {
	w.Helper()
	object := metav1.ObjectMeta{Name: name}
	roles, bindings := w.RbacV1().ClusterRoles(), w.RbacV1().ClusterRoleBindings()
	if _, err := roles.Create(w.Context(), &rbacv1.ClusterRole{ObjectMeta: object, Rules: rules},
		metav1.CreateOptions{}); err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = roles.Delete(context.Background(), name, metav1.DeleteOptions{}) })
	_, err := bindings.Create(w.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: object, Subjects: subjects,
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
	}, metav1.CreateOptions{})
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = bindings.Delete(context.Background(), name, metav1.DeleteOptions{}) })
}

// login makes the kubeconfig that berth is run with.
func (w *world) login() {
	w.Helper()
	token, err := w.CoreV1().ServiceAccounts(w.namespace).
		CreateToken(w.Context(), w.account, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		w.Fatal(err)
	}
	config, err := clientcmd.LoadFromFile(w.admin)
	if err != nil {
		w.Fatal(err)
	}
	config.AuthInfos = map[string]*api.AuthInfo{w.account: {Token: token.Status.Token}}
	config.Contexts[config.CurrentContext].AuthInfo = w.account
	w.kubeconfig = filepath.Join(w.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, w.kubeconfig); err != nil {
		w.Fatal(err)
	}
	if w.limited, err = clientcmd.BuildConfigFromFlags("", w.kubeconfig); err != nil {
		w.Fatal(err)
	}
}

// allowed waits until the API server goes by these grants in each of their
// namespaces: it reads them from a cache.
func (w *world) allowed(grants []grant) {
	w.Helper()
	client, err := kubernetes.NewForConfig(w.limited)
	if err != nil {
		w.Fatal(err)
	}
	namespaces := []string{w.namespace}
	for _, g := range grants {
		if g.namespace != metav1.NamespaceAll && !slices.Contains(namespaces, g.namespace) {
			namespaces = append(namespaces, g.namespace)
		}
	}
	if w.acting {
		grants = append(slices.Clone(grants), clusterRole(rbac.Named(rbac.Impersonation)))
	}
	for _, namespace := range namespaces {
		w.eventually("the rules count", func() bool {
			review, err := rbac.Ask(w.Context(), client, namespace)
			return err == nil && holds(review, namespace, grants)
		})
	}
}

// holds says whether a review has, of all that berth ever asks for, what the
// grants give in the namespace and nothing else.
func holds(review rbac.Review, namespace string, grants []grant) bool {
	granted := rbac.Review{}
	for _, g := range grants {
		if g.namespace != metav1.NamespaceAll && g.namespace != namespace {
			continue
		}
		for _, r := range g.rules {
			granted.Rules = append(granted.Rules,
				authorizationv1.ResourceRule{APIGroups: r.APIGroups, Resources: r.Resources, Verbs: r.Verbs})
		}
	}
	for _, c := range slices.Concat(rbac.Commands(), rbac.Elsewhere(), rbac.Bundles()) {
		if !slices.Equal(review.Missing(c.All()), granted.Missing(c.All())) {
			return false
		}
	}
	return true
}
