//go:build e2e

package e2e

import (
	"maps"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/release/k8shelltest"
)

// A workspace as k8shell's own chart lays it down is listed, diagnosed, entered, stopped, started and deleted.
func TestK8shellsWorkspace(t *testing.T) {
	w := newWorld(t)
	id := w.idOf("alice~dev")
	w.lay(k8shelltest.Workspace{
		ID: id, Username: "alice", Blueprint: "dev", Organization: "acme", UserString: "alice~dev",
		Namespace: w.namespace, Image: "registry.example.com/berth/workspace:v1",
		Agent: "registry.example.com/berth/k8shelld:v1",
	})
	ready := func() bool { pod := w.pod(id); return pod != nil && kube.IsReady(pod) }
	w.eventually("it runs", ready)
	list := decode[v1.WorkspaceList](w, w.must(0, "status", "-o", "json"))
	if len(list.Items) != 1 || list.Items[0].ID != id || list.Items[0].Owner != "alice" ||
		list.Items[0].UserString != "alice~dev" || list.Items[0].Stage != v1.StageRunning {
		t.Errorf("%+v", list)
	}
	w.must(0, "diagnose", "alice~dev")
	w.must(0, "exec", "alice~dev", "--", "true")
	before := w.pod(id).UID
	w.must(0, "stop", "alice~dev")
	if w.pod(id) != nil {
		t.Error("it has a pod after it was stopped")
	}
	w.must(0, "start", "alice~dev")
	w.must(0, "exec", "alice~dev", "--", "sh", "-c", "pidof k8shelld || grep -q k8shelld /proc/1/cmdline")
	if pod := w.pod(id); pod.UID == before || pod.Spec.InitContainers[0].Name != "init-base" {
		t.Errorf("it was started as %+v", pod.Spec)
	}
	secrets, err := w.CoreV1().Secrets(w.namespace).List(t.Context(), metav1.ListOptions{
		LabelSelector: "app.kubernetes.io/managed-by=k8shell-provisioner,k8shell.io/username=alice",
	})
	if err != nil || len(secrets.Items) != 1 {
		t.Errorf("k8shell finds %d releases of it: %v", len(secrets.Items), err)
	}
	w.must(0, "delete", "alice~dev")
	w.eventually("nothing is left", func() bool { return len(w.leftovers()) == 0 })
}

// lay lays down a workspace that k8shell has made.
func (w *world) lay(k k8shelltest.Workspace) {
	w.Helper()
	objects, err := k.Objects()
	if err != nil {
		w.Fatal(err)
	}
	record, err := k.Record(time.Now())
	if err != nil {
		w.Fatal(err)
	}
	objects = append(objects, record)
	client, err := dynamic.NewForConfig(w.config)
	if err != nil {
		w.Fatal(err)
	}
	for _, object := range objects {
		resource, known := kube.ResourceOf(object.GroupVersionKind())
		if !known {
			w.Fatalf("nothing is known of %s", object.GetKind())
		}
		if _, err := client.Resource(resource.GroupVersionResource).Namespace(w.namespace).
			Create(w.Context(), object, metav1.CreateOptions{FieldManager: "helm"}); err != nil {
			w.Fatal(err)
		}
	}
}

// The agent of a pod that lacks what it needs refuses to start, as k8shell's does; it only warns of a file that it can
// do without.
func TestAgentRefuses(t *testing.T) {
	w := newWorld(t)
	w.must(0, "provision", "alice~agent")
	id := w.idOf("alice~agent")
	files, err := w.CoreV1().ConfigMaps(w.namespace).Get(t.Context(), id+"-k8shelld-config", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	drop := func(capability corev1.Capability) func(*corev1.SecurityContext) {
		return func(c *corev1.SecurityContext) {
			c.Capabilities = &corev1.Capabilities{Drop: []corev1.Capability{capability}}
		}
	}
	const capabilities = "fatal: lacks one of the capabilities"
	for name, c := range map[string]struct {
		without string // a file of its configuration
		secured func(*corev1.SecurityContext)
		says    string
		phase   corev1.PodPhase
	}{
		"config":    {"config.yaml", nil, "fatal: /etc/k8shell/config.yaml cannot be read", corev1.PodFailed},
		"profile":   {"profile.yaml", nil, "fatal: /etc/k8shell/profile.yaml cannot be read", corev1.PodFailed},
		"blueprint": {"blueprint.yaml", nil, "warning: /etc/k8shell/blueprint.yaml cannot be", corev1.PodRunning},
		"chown":     {"", drop("CHOWN"), capabilities, corev1.PodFailed},
		"setuid":    {"", drop("SETUID"), capabilities, corev1.PodFailed},
		"setgid":    {"", drop("SETGID"), capabilities, corev1.PodFailed},
		"etc": {
			"", func(c *corev1.SecurityContext) { c.ReadOnlyRootFilesystem = new(true) },
			"fatal: /etc cannot be written to", corev1.PodFailed,
		},
	} {
		name = "lacks-" + name
		lacks := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: maps.Clone(files.Data)}
		delete(lacks.Data, c.without)
		if _, err := w.CoreV1().ConfigMaps(w.namespace).Create(t.Context(), lacks, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: *w.pod(id).Spec.DeepCopy()}
		pod.Spec.NodeName, pod.Spec.RestartPolicy = "", corev1.RestartPolicyNever
		for i, volume := range pod.Spec.Volumes {
			if volume.ConfigMap != nil && volume.ConfigMap.Name == files.Name {
				pod.Spec.Volumes[i].ConfigMap.Name = name
			}
		}
		if c.secured != nil {
			c.secured(pod.Spec.Containers[0].SecurityContext)
		}
		if _, err := w.CoreV1().Pods(w.namespace).Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		w.eventually(name+" is "+string(c.phase), func() bool {
			is := w.pod(name)
			return is != nil && is.Status.Phase == c.phase && strings.Contains(w.output("logs", name), c.says)
		})
	}
}
