//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/berthdev/berth/api/v1"
)

const inCluster = `blueprints:
  - name: from-cluster
    template: base
    image: registry.example.com/berth/workspace:v1
    resources: {cpu: 10m, memory: 32Mi}
    env:
      WHO: !cel user.username + " in " + workspaceName
      UID: !cel user.uid
      SIZE: !cel blueprint.resources.memory
`

// fromConfigMap runs berth with a configuration that names a ConfigMap.
func (w *world) fromConfigMap(args ...string) result {
	w.Helper()
	return w.configured("blueprintConfigMaps: [{namespace: "+w.namespace+", name: team}]\n", args...)
}

// configured runs berth with a configuration.
func (w *world) configured(text string, args ...string) result {
	w.Helper()
	file := filepath.Join(w.TempDir(), "config.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		w.Fatal(err)
	}
	cmd := w.command(args...)
	cmd.Env = append(cmd.Env, "BERTH_CONFIG="+file)
	return w.finish(cmd)
}

func (w *world) keep(blueprints string) {
	w.Helper()
	client := w.CoreV1().ConfigMaps(w.namespace)
	_ = client.Delete(w.Context(), "team", metav1.DeleteOptions{})
	_, err := client.Create(w.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "team"},
		Data:       map[string]string{"blueprints.yaml": blueprints, "README": "no blueprints"},
	}, metav1.CreateOptions{})
	if err != nil {
		w.Fatal(err)
	}
}

// Blueprints of a ConfigMap, with expressions, and fields set for one run.
func TestBlueprintsOfTheCluster(t *testing.T) {
	w := newWorld(t)
	missing := w.fromConfigMap("provision", "alice~from-cluster")
	if missing.status != 7 {
		t.Errorf("status %d", missing.status)
	}
	w.contains(missing.stderr, "configmap "+w.namespace+"/team not found")

	w.keep(strings.Replace(inCluster, "user.uid", "user.id", 1))
	broken := w.fromConfigMap("provision", "alice~from-cluster")
	if broken.status != 2 {
		t.Errorf("status %d", broken.status)
	}
	w.contains(broken.stderr, "configmap/"+w.namespace+
		"/team:blueprints.yaml:8:12: character 5 of the expression: undefined field 'id'")

	w.keep(inCluster)
	w.contains(w.fromConfigMap("blueprint", "list").stdout, "from-cluster")
	done := w.fromConfigMap("provision", "alice~from-cluster", "--set", "resources.memory=48Mi", "--set", "env.FOO=a,b",
		"--image", "registry.example.com/berth/workspace:v2")
	if done.status != 0 {
		t.Fatalf("status %d: %s", done.status, done.stderr)
	}
	id := w.idOf("alice~from-cluster")
	main := w.pod(id).Spec.Containers[0]
	env := map[string]string{}
	for _, variable := range main.Env {
		env[variable.Name] = variable.Value
	}
	if env["WHO"] != "alice in "+id || env["UID"] != "1000" || env["SIZE"] != "48Mi" || env["FOO"] != "a,b" {
		t.Errorf("the environment is %v", env)
	}
	if main.Image != "registry.example.com/berth/workspace:v2" || main.Resources.Limits.Memory().String() != "48Mi" {
		t.Errorf("%s, %s", main.Image, main.Resources.Limits.Memory())
	}
	resolved := w.fromConfigMap("resolve", "alice~from-cluster", "--set", "resources.cpu=20m", "-o", "json")
	origins := decode[v1.Resolution](w, resolved).Blueprint.Origins
	if origins["resources.cpu"] != "--set" {
		t.Errorf("%v", origins)
	}
	w.contains(origins["env.UID"], "from-cluster (configmap/"+w.namespace+"/team:blueprints.yaml:8), !cel user.uid")
}

// What a single run may not set is refused before anything is written.
func TestSetIsRefused(t *testing.T) {
	w := newWorld(t)
	r := w.must(2, "provision", "alice~dev", "--set", "resources.gpu=1", "--set", "securityContext.privileged=true")
	w.contains(r.stderr, "--set resources.gpu: unknown field", "--set securityContext.privileged: cannot "+
		"be set by a flag")
	w.contains(w.must(2, "resolve", "alice~dev", "--set", "resources.memory=lots").stderr,
		`--set resources.memory: invalid quantity "lots"`)
	if left := w.leftovers(); len(left) > 0 {
		t.Errorf("it wrote %s", left)
	}
}
