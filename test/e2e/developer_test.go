//go:build e2e

package e2e

import (
	"context"
	"path/filepath"
	"slices"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/berthdev/berth/internal/rbac"
)

// developer is the account that berth is run as.
const developer = "developer"

// become makes berth run as an account that has these rules in the namespace and
// no others, but for the right to act for any user.
func (w *world) become(rules []rbacv1.PolicyRule) {
	w.Helper()
	accounts, mine := w.CoreV1().ServiceAccounts(w.namespace), metav1.ObjectMeta{Name: developer}
	if _, err := accounts.Create(w.Context(), &corev1.ServiceAccount{ObjectMeta: mine}, metav1.CreateOptions{}); err != nil {
		w.Fatal(err)
	}
	subjects := []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: developer, Namespace: w.namespace}}
	_, err := w.RbacV1().Roles(w.namespace).Create(w.Context(), &rbacv1.Role{ObjectMeta: mine, Rules: rules}, metav1.CreateOptions{})
	if err != nil {
		w.Fatal(err)
	}
	_, err = w.RbacV1().RoleBindings(w.namespace).Create(w.Context(), &rbacv1.RoleBinding{
		ObjectMeta: mine, Subjects: subjects,
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: developer},
	}, metav1.CreateOptions{})
	if err != nil {
		w.Fatal(err)
	}
	w.everywhere("impersonation", rbac.Named("acting for somebody else").PolicyRules(), subjects)
	w.login()
	w.allowed(rules)
}

// everywhere binds rules in the whole cluster, until the test ends.
func (w *world) everywhere(name string, rules []rbacv1.PolicyRule, subjects []rbacv1.Subject) {
	w.Helper()
	object := metav1.ObjectMeta{Name: w.namespace + "-" + name}
	roles, bindings := w.RbacV1().ClusterRoles(), w.RbacV1().ClusterRoleBindings()
	if _, err := roles.Create(w.Context(), &rbacv1.ClusterRole{ObjectMeta: object, Rules: rules}, metav1.CreateOptions{}); err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = roles.Delete(context.Background(), object.Name, metav1.DeleteOptions{}) })
	_, err := bindings.Create(w.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: object, Subjects: subjects,
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: object.Name},
	}, metav1.CreateOptions{})
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = bindings.Delete(context.Background(), object.Name, metav1.DeleteOptions{}) })
}

// login makes the kubeconfig that berth is run with.
func (w *world) login() {
	w.Helper()
	token, err := w.CoreV1().ServiceAccounts(w.namespace).CreateToken(w.Context(), developer, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		w.Fatal(err)
	}
	config, err := clientcmd.LoadFromFile(w.admin)
	if err != nil {
		w.Fatal(err)
	}
	config.AuthInfos = map[string]*api.AuthInfo{developer: {Token: token.Status.Token}}
	config.Contexts[config.CurrentContext].AuthInfo = developer
	w.kubeconfig = filepath.Join(w.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, w.kubeconfig); err != nil {
		w.Fatal(err)
	}
	if w.limited, err = clientcmd.BuildConfigFromFlags("", w.kubeconfig); err != nil {
		w.Fatal(err)
	}
}

// allow changes what the account of berth may do in the namespace.
func (w *world) allow(rules []rbacv1.PolicyRule) {
	w.Helper()
	roles := w.RbacV1().Roles(w.namespace)
	role, err := roles.Get(w.Context(), developer, metav1.GetOptions{})
	if err != nil {
		w.Fatal(err)
	}
	role.Rules = rules
	if _, err := roles.Update(w.Context(), role, metav1.UpdateOptions{}); err != nil {
		w.Fatal(err)
	}
	w.allowed(rules)
}

// allowed waits until the API server goes by these rules and no others: it reads
// them from a cache.
func (w *world) allowed(rules []rbacv1.PolicyRule) {
	w.Helper()
	client := w.client(w.limited)
	w.eventually("the rules count", waitForRules, func() bool {
		review, err := rbac.Ask(w.Context(), client, w.namespace)
		return err == nil && gives(review, rules)
	})
}

const waitForRules = 20 * time.Second

// gives says whether a review has the rights to act for others, these rules, and
// of what berth ever asks for no others.
func gives(review rbac.Review, rules []rbacv1.PolicyRule) bool {
	role := rbac.Review{}
	for _, r := range rules {
		role.Rules = append(role.Rules, authorizationv1.ResourceRule{APIGroups: r.APIGroups, Resources: r.Resources, Verbs: r.Verbs})
	}
	all := rbac.Developer().All()
	return slices.Equal(review.Missing(all), role.Missing(all)) && review.Missing(rbac.Named("acting for somebody else").All()) == nil
}

func (w *world) client(config *rest.Config) kubernetes.Interface {
	w.Helper()
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		w.Fatal(err)
	}
	return client
}

// unlimited is the same world for a berth that is run by who administers the
// cluster.
func (w *world) unlimited() *world {
	other := *w
	other.kubeconfig, other.limited = w.admin, w.config
	return &other
}
