//go:build e2e

package e2e

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/rbac"
)

// withVariable is berth with a variable in its environment.
func (w *world) withVariable(variable string, args ...string) *exec.Cmd {
	w.Helper()
	cmd := w.command(args...)
	cmd.Env = append(cmd.Env, variable)
	return cmd
}

func (w *world) write(dir, name, text string) string {
	w.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.Fatal(err)
	}
	return path
}

// The image comes from a private registry. The password is in the namespace's
// pull secret and nowhere else; a new one gets there, too.
func TestPrivateRegistry(t *testing.T) {
	w := newWorld(t)
	dir := t.TempDir()
	config := func(password string) string {
		w.write(dir, "password", password+"\n")
		return "BERTH_CONFIG=" + w.write(dir, "config.yaml",
			"registry: {server: registry.example.com, username: berth, passwordFile: password}")
	}
	wrong := w.finish(w.withVariable(config("not-this-one"), "provision", "alice~private", "--timeout", "60s"))
	wrong.mustBe(w, 3)
	w.finish(w.withVariable(config("berth-test"), "provision", "alice~private")).mustBe(w, 0)
	secret, err := w.CoreV1().Secrets(w.namespace).Get(t.Context(), "k8shell-pull-secret", metav1.GetOptions{})
	if err != nil || secret.Type != corev1.SecretTypeDockerConfigJson {
		t.Fatalf("%v: %+v", err, secret)
	}
	w.contains(string(secret.Data[corev1.DockerConfigJsonKey]), `"berth-test"`)
	run := w.finish(w.withVariable(config("berth-test"), "provision", "bob~private", "--output", "jsonl"))
	run.mustBe(w, 0)
	dry := w.finish(w.withVariable(config("another"), "provision", "carol~private", "--dry-run=client", "-o", "yaml"))
	dry.mustBe(w, 0)
	w.contains(dry.stdout, "k8shell-pull-secret")
	for _, said := range []string{wrong.stderr, run.stdout, run.stderr, dry.stdout, dry.stderr} {
		for _, password := range []string{
			"berth-test", "another",
			base64.StdEncoding.EncodeToString([]byte("berth:berth-test")),
		} {
			if strings.Contains(said, password) {
				t.Errorf("the password is shown:\n%s", said)
			}
		}
	}
	if values := w.helm("get", "all", w.idOf("alice~private")); strings.Contains(values, "berth-test") {
		t.Errorf("the password is in Helm's record:\n%s", values)
	}
	w.finish(w.withVariable(config("berth-test"), "delete", "alice~private")).mustBe(w, 0)
	w.finish(w.withVariable(config("berth-test"), "delete", "bob~private")).mustBe(w, 0)
	w.eventually("the pull secret is left",
		func() bool { return strings.Join(w.leftovers(), " ") == "secret/k8shell-pull-secret" })
}

func (w *world) helm(args ...string) string {
	w.Helper()
	out, err := exec.Command(os.Getenv("BERTH_TEST_HELM"),
		append(args, "--namespace", w.namespace, "--kubeconfig", w.kubeconfig)...).CombinedOutput()
	if err != nil {
		w.Fatalf("helm %s: %v\n%s", args, err, out)
	}
	return string(out)
}

func TestCreateNamespace(t *testing.T) {
	w := newWorld(t)
	w = w.as(clusterRole(rbac.Named(rbac.Provision)), clusterRole(rbac.Named(rbac.CreateNamespace)))
	name := w.namespace + "-new"
	missing := w.must(7, "provision", "alice~plain", "--namespace", name)
	w.contains(missing.stderr, "NOT_FOUND", name, "--create-namespace")
	w.contains(w.must(7, "provision", "alice~plain", "--namespace", name, "--dry-run=server").stderr,
		"--create-namespace")
	w.contains(w.must(0, "provision", "alice~plain", "--namespace", name, "--create-namespace", "--dry-run=server").
		stdout, "# create namespace/"+name, "# create pod/")
	t.Cleanup(func() { _ = w.CoreV1().Namespaces().Delete(context.Background(), name, metav1.DeleteOptions{}) })
	made := w.must(0, "provision", "alice~plain", "--namespace", name, "--create-namespace")
	w.contains(made.stderr, "create namespace", "Running")
	there := w.must(0, "provision", "bob~plain", "--namespace", name, "--create-namespace")
	if strings.Contains(there.stderr, "create namespace") {
		t.Errorf("it was there:\n%s", there.stderr)
	}
}

// Without waiting a provisioning ends when everything is created, and the next one
// follows the same pod.
func TestNoWait(t *testing.T) {
	w := newWorld(t)
	r := w.must(0, "provision", "alice~gated", "--no-wait", "-o", "json")
	doc := decode[v1.Workspace](w, r)
	if doc.Stage == v1.StageRunning || doc.Stage == v1.StageUnknown || doc.CreatedAt.IsZero() || w.pod(doc.ID) == nil {
		t.Errorf("%+v", doc)
	}
	w.contains(w.helm("list"), doc.ID, "deployed")
	again := w.must(0, "provision", "alice~gated", "--no-wait")
	w.contains(again.stderr, "berth status alice~gated")
	following := w.start("provision", "alice~gated")
	following.waitFor("Starting") // otherwise it may find a workspace that is already running
	w.open("alice~gated")
	r = following.wait()
	r.mustBe(w, 0)
	w.contains(r.stderr, "Running")
}

// Nothing is written by a dry run, whatever it finds.
func TestDryRun(t *testing.T) {
	w := newWorld(t)
	for _, mode := range []string{"client", "server"} {
		for _, name := range []string{"dev", "agent", "podman", "sharing"} {
			r := w.must(0, "provision", "alice~"+name, "--dry-run="+mode, "-o", "json")
			var list struct {
				Kind  string
				Items []map[string]any
			}
			if err := json.Unmarshal([]byte(r.stdout), &list); err != nil || list.Kind != "List" ||
				len(list.Items) < 3 {
				t.Errorf("%s %s: %v, %d objects", mode, name, err, len(list.Items))
			}
			w.contains(r.stdout, "sh.helm.release.v1."+w.idOf("alice~"+name)+".v1", `"***"`)
			w.contains(r.stderr, "Nothing was changed")
		}
	}
	if left := w.leftovers(); len(left) != 0 {
		t.Fatalf("something was made: %s", left)
	}
	w.contains(w.must(2, "provision", "alice~dev", "--dry-run=maybe").stderr, "client, server")

	w.must(0, "provision", "alice~plain")
	before := strings.Join(w.leftovers(), " ")
	w.must(6, "provision", "alice~plain", "--dry-run=client")
	for _, mode := range []string{"client", "server"} {
		r := w.must(0, "delete", "alice~plain", "--dry-run="+mode)
		w.contains(r.stdout, "# delete pod/"+w.idOf("alice~plain"), "# delete configmap/",
			"# delete secret/sh.helm.release")
	}
	if after := strings.Join(w.leftovers(), " "); after != before {
		t.Errorf("%s became %s", before, after)
	}

	quota := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "none"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("0")}},
	}
	if _, err := w.CoreV1().ResourceQuotas(w.namespace).Create(t.Context(), quota, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	w.eventually("the quota counts", func() bool {
		return w.berth("provision", "bob~plain", "--dry-run=server").status == 3
	})
	w.contains(w.must(3, "provision", "bob~plain", "--dry-run=server").stderr, "exceeded quota")
	w.must(0, "provision", "bob~plain", "--dry-run=client")
}
