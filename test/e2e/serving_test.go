//go:build e2e

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/bundle/resource"
	"github.com/berthdev/berth/internal/serve"
)

// newServing is a world with the server of bundles in two pods, as `berth serve
// manifests` prints it and with nothing changed, for one of TestServers. What instances
// install may be in its namespace, which is the system namespace.
func newServing(t *testing.T, installRole string, args ...string) *world {
	t.Helper()
	return newServer(t, installRole, append(args, "--allow-system")...)
}

// newServer is the same for instances that have to leave the system namespace alone.
func newServer(t *testing.T, installRole string, args ...string) *world {
	t.Helper()
	w := newWorldAlone(t)
	w.kubeconfig, w.limited = w.admin, w.config
	args = append([]string{
		"serve", "manifests", "bundles", "--install-role", installRole, "--replicas", "2", "--image",
		"registry.example.com/berth/berth:" + w.program(binary),
	}, args...)
	file := w.write(w.TempDir(), "server.yaml", w.must(0, args...).stdout)
	t.Cleanup(func() {
		if t.Failed() {
			w.Logf("the server says:\n%s", w.output("logs", "--selector", serverPods, "--prefix", "--tail", "60"))
		}
		w.kubectl("delete", "bundleinstances.core.rukpak.io", w.instance(), "--ignore-not-found")
		w.kubectl("delete", "deployment", "berth-bundles", "--ignore-not-found", "--cascade=foreground",
			"--timeout=60s")
		w.kubectl("delete", "clusterrolebinding,clusterrole,validatingadmissionpolicybinding,validatingadmissionpolicy",
			"--selector", serverPods, "--ignore-not-found")
	})
	// Objects in other namespaces are among them, as ServiceAccounts to act as are.
	if out, err := exec.Command(os.Getenv("BERTH_TEST_KUBECTL"), "apply", "--server-side", "-f", file, "--kubeconfig",
		w.admin).CombinedOutput(); err != nil {
		t.Fatalf("kubectl apply: %v\n%s", err, out)
	}
	w.eventually("the server is ready", func() bool {
		d := w.server()
		return d.Status.ObservedGeneration == d.Generation && d.Status.ReadyReplicas == 2
	})
	w.eventually("every class has a leader", func() bool {
		return !slices.ContainsFunc(v1alpha1.Classes(), func(class string) bool { return w.leads(class) == "" })
	})
	return w
}

// output is what kubectl prints, whatever becomes of it.
func (w *world) output(args ...string) string {
	cmd := exec.Command(os.Getenv("BERTH_TEST_KUBECTL"),
		append(args, "--namespace", w.namespace, "--kubeconfig", w.admin)...)
	out, _ := cmd.CombinedOutput()
	return string(out)
}

// serverPods selects what belongs to the server.
const serverPods = "app.kubernetes.io/component=bundles"

// program puts a static program where the cluster makes an image of it, and gives the
// tag.
func (w *world) program(path string) (tag string) {
	w.Helper()
	dir := os.Getenv(clusterVariable)
	if dir == "" {
		w.Skipf("%s is not set: only a cluster of the test's own makes an image of a program", clusterVariable)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		w.Fatal(err)
	}
	tag = w.namespace + "-" + filepath.Base(path)
	file := filepath.Join(dir, "programs", tag)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		w.Fatal(err)
	}
	if err := os.WriteFile(file, content, 0o755); err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = os.Remove(file) })
	return tag
}

func (w *world) server() *appsv1.Deployment {
	w.Helper()
	d, err := w.AppsV1().Deployments(w.namespace).Get(w.Context(), "berth-bundles", metav1.GetOptions{})
	if err != nil {
		w.Fatal(err)
	}
	return d
}

// servers are the server's pods that are not being deleted.
func (w *world) servers() (pods []corev1.Pod) {
	w.Helper()
	list, err := w.CoreV1().Pods(w.namespace).List(w.Context(), metav1.ListOptions{LabelSelector: serverPods})
	if err != nil {
		w.Fatal(err)
	}
	return slices.DeleteFunc(list.Items, func(p corev1.Pod) bool { return p.DeletionTimestamp != nil })
}

// leads is the process that leads a class; empty if none does.
func (w *world) leads(class string) string {
	w.Helper()
	lease, err := w.CoordinationV1().Leases(w.namespace).Get(w.Context(), serve.LeaseName(class), metav1.GetOptions{})
	if err != nil || lease.Spec.HolderIdentity == nil {
		return ""
	}
	return *lease.Spec.HolderIdentity
}

// apply applies objects as GitOps does.
func (w *world) apply(documents ...string) {
	w.Helper()
	const between = "\n---\n" // in front of the first as well: old kubectl takes what begins with { for JSON
	w.kubectl("apply", "--server-side", "--force-conflicts", "-f",
		w.write(w.TempDir(), "objects.yaml", between+strings.Join(documents, between)))
}

// wanted reads the instance of the world.
func (w *world) wanted() *v1alpha1.Instance {
	w.Helper()
	in, err := w.objects().Instance(w.Context(), w.instance())
	if err != nil || in == nil {
		w.Fatalf("instance %s: %v", w.instance(), err)
	}
	return in
}

// bundlesOf are the bundles of the world's instance.
func (w *world) bundlesOf() []v1alpha1.Bundle {
	w.Helper()
	bundles, err := w.objects().Bundles(w.Context(), w.instance())
	if err != nil {
		w.Fatal(err)
	}
	return bundles
}

func (w *world) objects() resource.Objects {
	w.Helper()
	client, err := dynamic.NewForConfig(w.config)
	if err != nil {
		w.Fatal(err)
	}
	return resource.Objects{Client: client}
}

// condition is a condition of the world's instance: Status/Reason: message.
func condition(conditions []metav1.Condition, kind string) string {
	for _, c := range conditions {
		if c.Type == kind {
			return string(c.Status) + "/" + c.Reason + ": " + c.Message
		}
	}
	return ""
}

// installedBundle waits until the newest version of the instance is installed and
// healthy, and all else is cleaned up; it gives the one bundle.
func (w *world) installedBundle() *v1alpha1.Bundle {
	w.Helper()
	var last []string
	var bundle *v1alpha1.Bundle
	defer func() {
		if bundle == nil {
			w.Logf("the conditions are %q", last)
		}
	}()
	w.eventually("the instance is installed and healthy", func() bool {
		in := w.wanted()
		s, bundles := in.Status, w.bundlesOf()
		last = nil
		for _, kind := range []string{
			v1alpha1.ConditionHasValidBundle, v1alpha1.ConditionInstalled,
			v1alpha1.ConditionHealthy,
		} {
			last = append(last, condition(s.Conditions, kind))
		}
		ready := s.ObservedGeneration == in.Generation && len(bundles) == 1 && bundles[0].Name == s.InstalledBundleName
		for _, c := range last {
			ready = ready && strings.HasPrefix(c, "True/")
		}
		if ready {
			bundle = &bundles[0]
		}
		return ready
	})
	return bundle
}
