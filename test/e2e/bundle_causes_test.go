//go:build e2e

package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	v1 "github.com/berthdev/berth/api/v1"
)

const missingImage = "registry.example.com/berth/workspace:no-such-tag"

// program is a Deployment of one container, with the lines of that which differ.
func program(name, image, container string) string {
	return fmt.Sprintf(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: %[1]s}
spec:
  selector: {matchLabels: {app: %[1]s}}
  template:
    metadata: {labels: {app: %[1]s}}
    spec:
      terminationGracePeriodSeconds: 1
      securityContext: {runAsNonRoot: true, runAsUser: 1000, seccompProfile: {type: RuntimeDefault}}
      volumes: [{name: state, emptyDir: {}}]
      containers:
      - name: app
        image: %[2]q
        volumeMounts: [{name: state, mountPath: /state}]
        securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
%[3]s
`, name, image, container)
}

const sleeping = "        command: [sleep, infinity]\n"

// explained are the words in which a missing image is reported.
func explained(w *world) []string {
	return []string{"deployment/web in namespace " + w.namespace, "ImageNotFound: container app: image " +
		missingImage +
		" not found"}
}

// An image that does not exist ends the installation within seconds, with the cause and what to
// do, which is in the status as well; the next version goes on from there.
func TestBundleOfAMissingImage(t *testing.T) {
	w := newBundles(t)
	begun := time.Now()
	r := w.bundle(3, "install", w.plain(configMap("a", "one"), program("web", missingImage, sleeping)))
	if took := time.Since(begun); took > 30*time.Second {
		t.Errorf("it took %s", took)
	}
	w.contains(r.stderr, explained(w)...)
	w.contains(r.stderr, "FAILED", "no such image or tag")
	state := decode[v1.BundleState](w, w.bundle(0, "status", "-o", "json"))
	if c := causeOf(state); c == nil || c.Code != "ImageNotFound" || c.Hint == "" ||
		!strings.HasPrefix(c.Object, "pod/web-") || state.State != v1.BundleUnhealthy {
		t.Errorf("%+v", state)
	}
	w.contains(condition(w.wanted().Status.Conditions, v1alpha1.ConditionHealthy),
		append(explained(w), "False/ObjectsFailed")...)
	if text := w.bundle(0, "status").stdout; strings.Count(text, "ImageNotFound") != 1 ||
		strings.Contains(text, "SERVED") {
		t.Errorf("a reason is said once, and nothing of a server that there is not:\n%s", text)
	}
	w.contains(w.must(0, "bundle", "list", "--system-namespace", w.namespace, "-o", "json").stdout, "ImageNotFound")

	i := decode[v1.BundleInstallation](w,
		w.bundle(0, "install", w.plain(configMap("a", "one"), program("web", workspaceImage, sleeping)), "-o", "json"))
	if !i.Healthy {
		t.Errorf("%+v", i)
	}
	if state := decode[v1.BundleState](w, w.bundle(0, "status", "-o", "json")); state.State != v1.BundleHealthy ||
		causeOf(state) != nil {
		t.Errorf("%+v", state)
	}
	w.uninstalled()
}

// causeOf is the first cause that an object of an instance has; nil if none has one.
func causeOf(s v1.BundleState) *v1.Cause {
	for _, o := range s.Objects {
		if o.Cause != nil {
			return o.Cause
		}
	}
	return nil
}

// What passes is waited for, under the policy of workspaces: a crash at the first start, and a
// Secret that comes while another object of the bundle is on its way.
func TestBundleThatRecovers(t *testing.T) {
	w := newBundles(t)
	once := `        command: [sh, -c, "test -e /state/started || { touch /state/started; exit 1; }; sleep infinity"]`
	slow := sleeping + `        readinessProbe: {initialDelaySeconds: 20, exec: {command: ["true"]}}`
	dir := w.plain(program("once", workspaceImage, once), program("slow", workspaceImage, slow),
		program("web", workspaceImage, sleeping+`        envFrom: [{secretRef: {name: made-later}}]`))
	install := w.start("bundle", "install", w.instance(), dir, "--system-namespace", w.namespace, "--timeout", "2m")
	w.eventually("it says what is missing",
		func() bool { return strings.Contains(install.stderr.String(), "ConfigMissing") })
	w.kubectl("create", "secret", "generic", "made-later", "--namespace", w.namespace)
	install.wait().mustBe(w, 0)
	w.contains(w.bundle(3, "install", w.plain(program("once", missingImage, once))).stderr, "ImageNotFound")
	w.contains(w.bundle(5, "install", w.plain(program("once", missingImage, once)), "--ignore-reason", "ImageNotFound",
		"--timeout", "10s").stderr, "ImageNotFound")
	w.uninstalled()
}

// Without the right to read pods, a bundle installs as before, and it is said once what is not seen.
func TestBundleWithoutPods(t *testing.T) {
	w := newBundles(t)
	if _, err := w.CoreV1().ServiceAccounts(w.namespace).
		Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "deployer"}},
			metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	w.bind(w.namespace, "deployer", installing("apps", "deployments"),
		[]rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: "deployer", Namespace: w.namespace}})
	w.eventually("it may", func() bool {
		return strings.HasPrefix(w.output("auth", "can-i", "patch", "deployments", "--as", "system:serviceaccount:"+
			w.namespace+":deployer"), "yes")
	})
	as := []string{"--service-account", w.namespace + "/deployer"}
	r := w.bundle(5, "install", append(as, w.plain(program("web", missingImage, sleeping)), "--timeout", "10s")...)
	w.contains(r.stderr, "what keeps pods from running is not seen in full", "deployment/web",
		"kubectl describe deployment/web")
	if n := strings.Count(r.stderr, "not seen in full"); n != 1 {
		t.Errorf("it is said %d times:\n%s", n, r.stderr)
	}
	w.bundle(0, "install", append(as, w.plain(program("web", workspaceImage, sleeping)))...)
	w.uninstalled()
}

// A server says what keeps pods from running on the instance, and a terminal that follows it ends
// with that.
func testServeCauses(t *testing.T) {
	w := newServing(t, "cluster-admin")
	w.apply(contentOf("bad", configMap("a", "one"), program("web", missingImage, sleeping)),
		w.plainOf(v1alpha1.ClassPlain, "bad"))
	w.eventually("the instance says which image is missing", func() bool {
		healthy := condition(w.wanted().Status.Conditions, v1alpha1.ConditionHealthy)
		return strings.HasPrefix(healthy, "False/ObjectsFailed: ") && strings.Contains(healthy, explained(w)[1])
	})
	w.apply(contentOf("good", configMap("a", "two"), program("web", workspaceImage, sleeping)),
		w.plainOf(v1alpha1.ClassPlain, "good"))
	w.installedBundle()
	bad := w.plain(configMap("a", "three"), program("web", missingImage, sleeping))
	w.contains(w.bundle(3, "install", bad).stderr, explained(w)...)
	w.contains(w.bundle(3, "install", bad).stderr, explained(w)...)
	w.bundle(0, "install", w.plain(configMap("a", "four"), program("web", workspaceImage, sleeping)))
	w.says(map[string]string{"a": "four"})
}
