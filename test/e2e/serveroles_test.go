//go:build e2e

package e2e

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/rbac"
)

// installing is what it takes to install objects of one kind.
func installing(group, resource string) []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{{
		APIGroups: []string{group}, Resources: []string{resource},
		Verbs: []string{"get", "list", "watch", "create", "patch", "delete"},
	}}
}

// A server whose install role has ConfigMaps alone installs these, and says what it may
// not install; what was there before stays.
func testServeWithANarrowRole(t *testing.T) {
	w := newServing(t, "e2e-configmaps")
	w.bindEverywhere("e2e-configmaps", installing("", "configmaps"), nil)
	w.eventually("the server may install ConfigMaps", func() bool {
		return strings.HasPrefix(w.output("auth", "can-i", "patch", "configmaps", "-n", "default", "--as",
			"system:serviceaccount:"+w.namespace+":berth-bundles-installer"), "yes")
	})
	w.apply(contentOf("one", configMap("a", "one"), configMap("gone", "x")), w.plainOf(v1alpha1.ClassPlain, "one"))
	first := w.installedBundle()
	service := `{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {type: ExternalName, ` +
		`externalName: example.com}}`
	w.apply(contentOf("two", configMap("a", "two"), service), w.plainOf(v1alpha1.ClassPlain, "two"))
	w.eventually("the instance says what is not permitted", func() bool {
		in := w.wanted()
		why := condition(in.Status.Conditions, v1alpha1.ConditionInstalled)
		return in.Status.ObservedGeneration == in.Generation && strings.HasPrefix(why, "False/UpgradeFailed") &&
			strings.Contains(why, "services") && in.Status.InstalledBundleName == first.Name
	})
	w.says(map[string]string{"a": "one", "gone": "x"})
	w.apply(contentOf("three", configMap("a", "three")), w.plainOf(v1alpha1.ClassPlain, "three"))
	w.installedBundle()
	w.says(map[string]string{"a": "three"})
}

// The permissions of a server are enough, and it uses all of them. It runs here, so that
// what it asks for can be seen, of an API server with which a watch does not begin with a
// list; testServeContent has the reviews of tokens, which need no Role here, and
// testServeAsServiceAccount the instances for which it reads the policies.
func testRolesOfServing(t *testing.T) {
	w := newWorldAlone(t)
	table := []rbac.Command{rbac.Named(rbac.ServeBundles), rbac.Named(rbac.ServeBundlesInSystem)}
	limited := w.as(clusterRole(table[0]), w.role(table[1]), grant{metav1.NamespaceAll, installing("", "services")})
	w.kubeconfig, w.limited = w.admin, w.config
	w.apply(w.must(0, "bundle", "definitions").stdout)

	to, listen := &asked{}, freePort(t)
	cmd := limited.command("serve", "bundles", "--system-namespace", w.namespace, "--listen", listen,
		"--metrics-listen", freePort(t), "--allow-system")
	cmd.Env = append(cmd.Env, "KUBECONFIG="+limited.record(to, old), "XDG_CACHE_HOME="+t.TempDir())
	server := w.launch(cmd)
	server.waitFor(`"leadership"`)
	w.useServer()
	if code, _, _ := w.ask(http.DefaultClient, "http://"+listen+"/bundles/x.tgz", "nonsense", "",
		""); code != http.StatusUnauthorized {
		t.Errorf("it answers %d", code)
	}
	server.signal(os.Interrupt)
	server.wait().mustBe(w, 0)

	beside := rbac.Command{Rules: []rbac.Rule{{Resource: "services", Verbs: installing("", "services")[0].Verbs}}}
	var may []rbac.Access
	for _, c := range append(table, beside) {
		may = append(may, c.All()...)
	}
	for _, a := range to.list() {
		if !slices.Contains(may, a) {
			t.Errorf("it asks for %q, which its Role does not have", a)
		}
	}
	for _, a := range may {
		elsewhere := []string{"authentication.k8s.io", "authorization.k8s.io", "admissionregistration.k8s.io"}
		if !slices.Contains(elsewhere, a.Group) && !to.has(a.String()) {
			t.Errorf("%q is in its Role and nothing asks for it", a)
		}
	}
}

// useServer has instances of everything that a server does differently.
func (w *world) useServer() {
	w.Helper()
	service := func(name, to string) string {
		return fmt.Sprintf(`{apiVersion: v1, kind: Service, metadata: {name: %s}, spec: {type: ExternalName, `+
			`externalName: %s}}`, name, to)
	}
	login := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Name:        "login",
		Annotations: map[string]string{"berth.dev/hosts": "127.0.0.1:1"},
	}, StringData: map[string]string{
		"username": "a",
		"password": "b",
	}}
	if _, err := w.CoreV1().Secrets(w.namespace).Create(w.Context(), login, metav1.CreateOptions{}); err != nil {
		w.Fatal(err)
	}
	w.apply(service("a", "theirs.example.com"), contentOf("taken", service("a", "ours.example.com")),
		w.plainOf(v1alpha1.ClassPlain, "taken"))
	w.eventually("the instance says what belongs to others", func() bool {
		return strings.Contains(condition(w.wanted().Status.Conditions, v1alpha1.ConditionInstalled), "service/a")
	})
	w.kubectl("delete", "service", "a")
	for n := range 12 { // more than are kept of a release
		name := fmt.Sprintf("v%d", n)
		w.apply(contentOf(name, service("a", name+".example.com"), service(name, "example.com")),
			w.plainOf(v1alpha1.ClassPlain, name))
		w.installedBundle()
	}
	w.kubectl("delete", "service", "a")
	w.apply(contentOf("other", service("a", "other.example.com")), w.plainOf(v1alpha1.ClassPlain, "other"))
	w.installedBundle()
	w.bundle(0, "install", w.plain(service("a", "upload.example.com")))
	w.contains(w.bundle(3, "install",
		w.plain(service("a", "x"), `{apiVersion: v1, kind: Service, metadata: {name: b}, spec: {type: Nonsense}}`)).
		stderr, "Nonsense")
	w.kubectl("delete", "bundleinstances.core.rukpak.io", w.instance(), "--wait")
	w.apply(strings.Replace(w.plainOf(v1alpha1.ClassPlain, "x"),
		"source: {type: configMaps, configMaps: [{configMap: {name: x}, path: manifests}]}",
		"source: {type: http, http: {url: 'https://127.0.0.1:1/x.tgz', auth: {secret: {name: login}}}}", 1))
	w.eventually("the instance says what cannot be fetched", func() bool {
		return strings.Contains(condition(w.wanted().Status.Conditions, v1alpha1.ConditionHasValidBundle),
			"127.0.0.1:1")
	})
	w.kubectl("delete", "bundleinstances.core.rukpak.io", w.instance(), "--wait")
}

// freePort is an address on this host that nobody listens on.
func freePort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}
