//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
)

// author may write bundle instances, and these rules; nothing else.
func (w *world) author(grants ...grant) *world {
	w.Helper()
	instances := []rbacv1.PolicyRule{{
		APIGroups: []string{v1alpha1.Group}, Resources: []string{"bundleinstances"},
		Verbs: []string{"get", "list", "watch", "create", "update", "patch", "delete"},
	}}
	return w.as(append(grants, grant{metav1.NamespaceAll, instances})...)
}

// tries is what kubectl prints for the account of the world, whatever becomes of it.
func (w *world) tries(documents string, args ...string) string {
	w.Helper()
	cmd := exec.Command(os.Getenv("BERTH_TEST_KUBECTL"),
		append(args, "--kubeconfig", w.kubeconfig, "-f", w.write(w.TempDir(), "objects.yaml", documents))...)
	out, _ := cmd.CombinedOutput()
	return string(out)
}

// patches is what kubectl prints for the account of a change of the world's instance.
func (w *world) patches(change ...string) string {
	w.Helper()
	args := append([]string{
		"patch", "bundleinstances.core.rukpak.io", w.instance(), "--type", "merge", "--kubeconfig",
		w.kubeconfig,
	}, change...)
	out, _ := exec.Command(os.Getenv("BERTH_TEST_KUBECTL"), args...).CombinedOutput()
	return string(out)
}

// writes applies documents with the rights of the account.
func (w *world) writes(documents string) {
	w.Helper()
	if out := w.tries(documents, "apply", "--server-side", "--force-conflicts"); !strings.Contains(out,
		"serverside-applied") {
		w.Fatalf("kubectl says:\n%s", out)
	}
}

// attackingChart are ConfigMaps with a chart that has one template, and the instance of it.
func (w *world) attackingChart(name, template string) (content, instance string) {
	chart := fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\nimmutable: true\ndata:\n"+
		"  Chart.yaml: '{apiVersion: v2, name: %s, version: 1.0.0}'\n", name, name)
	instance = strings.ReplaceAll(w.plainOf(v1alpha1.ClassHelm, name), v1alpha1.ClassPlain, v1alpha1.ClassHelm)
	instance = strings.Replace(instance, "[{configMap: {name: "+name+"}, path: manifests}]",
		"[{configMap: {name: "+name+
			"}}, {configMap: {name: "+name+"-t}, path: templates}]", 1)
	return chart + "---\n" + contentOf(name+"-t", template), instance
}

// Anyone who may write instances alone has the install role and nothing of what the server has: not by
// what a template looks up, not by an object, not by a hook. The instance says why.
func testServeAttacked(t *testing.T) {
	s := newServer(t, "e2e-attacked")
	s.bindEverywhere("e2e-attacked", installing("", "configmaps"), nil)
	w := newBareWorld(t)
	author := w.author()
	if _, err := s.CoreV1().Secrets(s.namespace).
		Create(t.Context(), &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: "secret"},
			StringData: map[string]string{"a": "hunter2"},
		}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	stolen := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: stolen, namespace: " + w.namespace +
		"}\ndata: {all: {{ lookup \"v1\" \"Secret\" %q \"\" | toJson | quote }}}\n"
	token := `{apiVersion: v1, kind: Secret, type: kubernetes.io/service-account-token, metadata: {name: token, ` +
		`namespace: %s, annotations: {kubernetes.io/service-account.name: %s, helm.sh/hook: %s}}}`
	for name, attack := range map[string]struct {
		template string // of a chart
		manifest string // of plain manifests
		upload   bool   // marks the ConfigMap of the manifests as that of an upload
		says     string
	}{
		"looks up Secrets of the system": {
			template: fmt.Sprintf(stolen, s.namespace),
			says:     "which bundles leave alone",
		},
		"looks up all Secrets": {template: fmt.Sprintf(stolen, ""), says: `cannot list resource \"secrets\"`},
		"shows what another has uploaded": {
			manifest: configMap("a", "hunter2"), upload: true,
			says: "is of the upload of a bundle",
		},
		"makes a token of the server": {
			manifest: fmt.Sprintf(token, s.namespace, "berth-bundles", "none"),
			says:     "is of the system namespace",
		},
		"makes one by a hook": {
			template: fmt.Sprintf(token, s.namespace, "berth-bundles", "pre-install"),
			says:     "is of the system namespace",
		},
		"makes a Secret elsewhere": {
			manifest: fmt.Sprintf(token, w.namespace, "default", "none"),
			says:     `resource \"secrets\"`,
		}, // it may not create them, nor watch them when it tries again
		"defines bundles": {
			manifest: `{apiVersion: apiextensions.k8s.io/v1, kind: ` +
				`CustomResourceDefinition, metadata: {name: bundles.core.rukpak.io}, spec: {group: core.rukpak.io}}`,
			says: "defines the API of bundles",
		},
		"gives the server more rights": {manifest: fmt.Sprintf(`{apiVersion: rbac.authorization.k8s.io/v1, kind: `+
			`RoleBinding, metadata: {name: more, namespace: %s}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: `+
			`ClusterRole, name: admin}, subjects: [{kind: ServiceAccount, name: berth-bundles, namespace: %s}]}`,
			w.namespace, s.namespace), says: "gives rights to a ServiceAccount of the system"},
		"gives the author more rights": {manifest: fmt.Sprintf(`{apiVersion: rbac.authorization.k8s.io/v1, kind: `+
			`ClusterRoleBinding, metadata: {name: more}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: `+
			`ClusterRole, name: cluster-admin}, subjects: [{kind: ServiceAccount, name: %s, namespace: %s}]}`,
			author.account, w.namespace), says: "lacks a permission"},
		"takes the lease of a class": {
			manifest: fmt.Sprintf(`{apiVersion: coordination.k8s.io/v1, kind: Lease, `+
				`metadata: {name: berth-leader-berth-dev-plain, namespace: %s}}`, s.namespace),
			says: "is of the system namespace",
		},
		"has objects that name no place": {manifest: configMap("a", "b"), says: "spec.config.namespace"},
		"takes an installer for the class": {
			manifest: `{apiVersion: rbac.authorization.k8s.io/v1, kind: ` +
				`ClusterRoleBinding, metadata: {name: berth-bundles-install}, roleRef: {apiGroup: ` +
				`rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}}`,
			says: "has the name of one of berth's own",
		},
	} {
		t.Run(name, func(t *testing.T) {
			of := "attack-" + strings.ReplaceAll(strings.ToLower(name), " ", "-")
			content, instance := w.attackingChart(of, attack.template)
			if attack.manifest != "" {
				content, instance = contentOf(of, attack.manifest), w.plainOf(v1alpha1.ClassPlain, of)
			}
			if attack.upload {
				content = strings.Replace(content, "metadata: {name: "+of+"}", "metadata: {name: "+of+
					", labels: {berth.dev/bundle: other, berth.dev/chunk: \"0\", berth.dev/chunks: \"1\"}}", 1)
			}
			if strings.Contains(attack.says, "config.namespace") {
				instance = strings.Replace(instance, "config: {namespace: "+w.namespace+"}", "config: {}", 1)
			}
			s.apply(content)
			author.writes(instance)
			w.eventually("the instance says why it is refused", func() bool {
				in := w.wanted()
				why := condition(in.Status.Conditions, v1alpha1.ConditionInstalled) +
					condition(in.Status.Conditions, v1alpha1.ConditionHasValidBundle)
				refused := in.Status.ObservedGeneration == in.Generation &&
					strings.Contains(why, strings.ReplaceAll(attack.says, `\"`, `"`))
				if !refused {
					w.Log(why)
				}
				return refused
			})
			for _, namespace := range []string{s.namespace, w.namespace} {
				if _, err := w.CoreV1().Secrets(namespace).
					Get(t.Context(), "token", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
					t.Errorf("the token is in %s: %v", namespace, err)
				}
			}
			if _, err := w.CoreV1().ConfigMaps(w.namespace).
				Get(t.Context(), "stolen", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
				t.Errorf("it was looked up: %v", err)
			}
			if out := author.tries(instance, "delete", "--wait"); !strings.Contains(out, "deleted") {
				t.Fatal(out)
			}
		})
	}
}

// An install role that has ConfigMaps alone installs, upgrades, repairs and removes them for an
// author who may write instances alone.
func testServeForANarrowAuthor(t *testing.T) {
	s := newServer(t, "e2e-narrow")
	s.bindEverywhere("e2e-narrow", installing("", "configmaps"), nil)
	w := newBareWorld(t)
	author := w.author()
	s.apply(contentOf("one", configMap("a", "one"), configMap("gone", "x")), "---\n"+
		contentOf("two", configMap("a", "two")))
	author.writes(w.plainOf(v1alpha1.ClassPlain, "one"))
	w.installedBundle()
	w.says(map[string]string{"a": "one", "gone": "x"})
	author.writes(w.plainOf(v1alpha1.ClassPlain, "two"))
	w.installedBundle()
	w.says(map[string]string{"a": "two"})
	w.kubectl("delete", "configmap", "a")
	author.writes(strings.Replace(w.plainOf(v1alpha1.ClassPlain, "two"), "config: {", "config: {requested: again, ", 1))
	w.installedBundle()
	w.says(map[string]string{"a": "two"})
	if out := author.tries(w.plainOf(v1alpha1.ClassPlain, "two"), "delete", "--wait"); !strings.Contains(out,
		"deleted") {
		t.Fatal(out)
	}
	w.eventually("what it installed is gone", func() bool { return len(w.texts()) == 0 && len(w.bundlesOf()) == 0 })
}

// An instance that names a ServiceAccount is installed with the rights of that one. The API
// server lets nobody write it, or its bundle, who may not act as that one; and nothing is
// installed as it where nobody asks for that.
func testServeAsServiceAccount(t *testing.T) {
	w := newBareWorld(t)
	defer w.output("delete", "bundleinstances.core.rukpak.io", w.instance(), "--ignore-not-found")
	if _, err := w.CoreV1().ServiceAccounts(w.namespace).
		Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "deployer"}},
			metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	w.bind(w.namespace, "deployer", installing("", "services"),
		[]rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: "deployer", Namespace: w.namespace}})
	s := newServer(t, "e2e-nothing", "--service-account", w.namespace+"/deployer")
	may := []rbacv1.PolicyRule{{
		APIGroups: []string{""}, Resources: []string{"serviceaccounts"},
		ResourceNames: []string{"deployer"}, Verbs: []string{"impersonate"},
	}}
	bundles := []rbacv1.PolicyRule{{
		APIGroups: []string{v1alpha1.Group},
		Resources: []string{"bundles", "bundles/status", "bundleinstances/status"},
		Verbs:     []string{"get", "list", "create", "update", "patch"},
	}}
	author, other := w.author(grant{w.namespace, may}), w.author(grant{metav1.NamespaceAll, bundles})
	service := func(name string) string {
		return fmt.Sprintf(`{apiVersion: v1, kind: Service, metadata: {name: %s}, spec: {type: ExternalName, `+
			`externalName: example.com}}`, name)
	}
	s.apply(contentOf("one", service("one")), "---\n"+contentOf("two", service("two")), "---\n"+
		contentOf("three", configMap("a", "b")))
	as := func(content string) string {
		return strings.Replace(w.plainOf(v1alpha1.ClassPlain, content), "  template:", "  serviceAccount: {namespace: "+
			w.namespace+", name: deployer}\n  template:", 1)
	}
	refused := func(documents string) {
		t.Helper()
		if out := other.tries(documents, "apply", "--server-side", "--force-conflicts"); !strings.Contains(out,
			"may not impersonate all of: "+w.namespace+"/deployer") {
			t.Errorf("kubectl says:\n%s", out)
		}
	}
	w.eventually("the API server asks the author", func() bool {
		return strings.Contains(other.tries(as("one"), "create", "--dry-run=server"), "may not impersonate all of")
	})
	refused(as("one"))
	author.writes(as("one"))
	b := w.installedBundle()
	if by := b.Annotations[v1alpha1.AnnotationServiceAccount]; by != w.namespace+"/deployer" {
		t.Errorf("the bundle says %q", by)
	}
	if _, err := w.CoreV1().Services(w.namespace).Get(t.Context(), "one", metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
	refused(as("two"))
	refused(w.plainOf(v1alpha1.ClassPlain, "two")) // which would take it from the ServiceAccount
	refused(fmt.Sprintf("apiVersion: core.rukpak.io/v1alpha1\nkind: Bundle\n"+
		"metadata: {name: forged, annotations: {%s: %s/deployer}}\n"+
		"spec: {provisionerClassName: berth-dev-plain, source: {type: configMaps, configMaps: "+
		"[{configMap: {name: two}}]}}",
		v1alpha1.AnnotationServiceAccount, w.namespace))
	patch := exec.Command(os.Getenv("BERTH_TEST_KUBECTL"), "--kubeconfig", other.kubeconfig, "patch",
		"bundles.core.rukpak.io", b.Name, "--subresource", "status", "--type", "merge", "-p",
		`{"status": {"digest": "sha256:forged"}}`)
	if out, err := patch.CombinedOutput(); err == nil || !strings.Contains(string(out), "may not impersonate") {
		t.Errorf("the status is forged: %s", out)
	}

	author.writes(as("three"))
	w.eventually("the instance says which permission is missing, and whose", func() bool {
		why := condition(w.wanted().Status.Conditions, v1alpha1.ConditionInstalled)
		return strings.Contains(why, "the ServiceAccount "+w.namespace+"/deployer lacks a permission") &&
			strings.Contains(why, "configmaps")
	})
	author.writes(as("two"))
	w.installedBundle()
	if out := other.tries(as("two"), "delete", "--wait=false"); !strings.Contains(out, "may not impersonate all of: "+
		w.namespace+"/deployer") {
		t.Errorf("what the ServiceAccount has installed is removed for somebody else:\n%s", out)
	}

	orphaned := `{"metadata": {"ownerReferences": [{"apiVersion": "v1", "kind": "Namespace", "name": "gone", "uid": ` +
		`"00000000-0000-0000-0000-000000000000"}]}}`
	for what, change := range map[string][]string{
		"an owner that is gone": {"-p", orphaned},
		"a finalizer":           {"-p", `{"metadata": {"finalizers": ["example.com/kept"]}}`},
		"an uninstallation": {"-p", `{"metadata": {"annotations": {"` + v1alpha1.AnnotationUninstalling +
			`": "now"}}}`},
		"what is installed": {"-p", `{"status": {"installedBundleName": "forged"}}`, "--subresource", "status"},
	} {
		if out := other.patches(change...); !strings.Contains(out,
			"may not impersonate all of: "+w.namespace+"/deployer") {
			t.Errorf("%s is written by somebody else:\n%s", what, out)
		}
	}
	if out := author.patches("-p", orphaned); !strings.Contains(out, "patched") {
		t.Fatal(out)
	}
	w.eventually("the garbage collector deletes it for those who may", func() bool {
		return w.output("get", "bundleinstances.core.rukpak.io", w.instance(), "--ignore-not-found", "--output",
			"name") == ""
	})

	s.kubectl("delete", "validatingadmissionpolicybinding", "berth-bundles-instances")
	n := 0
	w.eventually("nothing is installed as a ServiceAccount that anybody may name", func() bool {
		n++
		author.writes(strings.Replace(as("two"), "config: {", fmt.Sprintf("config: {requested: 'n%d', ", n), 1))
		return strings.Contains(condition(w.wanted().Status.Conditions, v1alpha1.ConditionInstalled),
			"False/ErrorGettingClient: the instance names a ServiceAccount")
	})
}

// At a terminal a bundle is installed as the ServiceAccount that is named, and stays so.
func TestBundleAsServiceAccount(t *testing.T) {
	w := newBundles(t)
	if _, err := w.CoreV1().ServiceAccounts(w.namespace).
		Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "deployer"}},
			metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	w.bind(w.namespace, "deployer", installing("", "configmaps"),
		[]rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: "deployer", Namespace: w.namespace}})
	w.eventually("it may", func() bool {
		return strings.HasPrefix(w.output("auth", "can-i", "patch", "configmaps", "--as", "system:serviceaccount:"+
			w.namespace+":deployer"), "yes")
	})
	w.bundle(0, "install", w.plain(configMap("a", "one")), "--service-account", w.namespace+"/deployer")
	w.bundle(0, "install", w.plain(configMap("a", "two")))
	w.says(map[string]string{"a": "two"})
	service := `{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {type: ExternalName, ` +
		`externalName: example.com}}`
	w.contains(w.bundle(4, "install", w.plain(configMap("a", "three"), service)).stderr, "the ServiceAccount "+
		w.namespace+"/deployer lacks a permission", "services")
	w.says(map[string]string{"a": "two"})
	w.bundle(0, "install", w.plain(configMap("a", "three"), service), "--service-account", "")
	w.says(map[string]string{"a": "three"})
}
