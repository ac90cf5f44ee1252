//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
)

// The pod that leads is killed in the middle of an upgrade: another one takes over and
// completes it, and nothing is left of what was there before.
func testServeKilled(t *testing.T) {
	for name, c := range map[string]struct {
		hook string // in which the upgrade is when it is killed
		text string // of what it has installed by then
		kill func(w *world, pod string)
	}{
		"before its objects": {"pre-upgrade", "one", func(w *world, pod string) {
			w.kubectl("delete", "pod", pod, "--grace-period=0", "--force", "--wait=false")
		}},
		"after its objects": {"post-upgrade", "two", (*world).endProcess},
	} {
		t.Run(name, func(t *testing.T) {
			w := newServing(t, "cluster-admin")
			w.bundle(0, "install", w.gated(c.hook, "one"))
			old := w.installedBundle().Name
			w.bundle(0, "install", w.gated(c.hook, "two"), "--no-wait")
			w.eventually("the upgrade waits for its hook", func() bool {
				pods, err := w.CoreV1().Pods(w.namespace).List(t.Context(),
					metav1.ListOptions{LabelSelector: "job-name=gate"})
				return err == nil && len(pods.Items) == 1 && pods.Items[0].Status.Phase == corev1.PodRunning
			})
			if in := w.wanted(); in.Status.InstalledBundleName != old || len(w.bundlesOf()) != 2 {
				t.Errorf("bundle %s is installed of %d, want %s of 2", in.Status.InstalledBundleName,
					len(w.bundlesOf()), old)
			}
			w.says(map[string]string{"a": c.text})
			led := w.leads(v1alpha1.ClassHelm)
			pod, _, _ := strings.Cut(led, "_")
			c.kill(w, pod)
			w.apply(`{apiVersion: v1, kind: ConfigMap, metadata: {name: gate}, data: {open: ""}}`)
			if now := w.installedBundle(); now.Name == old {
				t.Errorf("the bundle is still %s", old)
			}
			w.says(map[string]string{"a": "two"})
			if now := w.leads(v1alpha1.ClassHelm); now == led {
				t.Errorf("%s still leads", led)
			}
			w.contains(w.helm("history", w.instance()), "superseded", "deployed")
			w.uninstalled()
		})
	}
}

// gated is a chart with a ConfigMap of a text, and a hook that waits for the gate to open.
func (w *world) gated(hook, text string) string {
	w.Helper()
	dir := w.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "templates"), 0o755); err != nil {
		w.Fatal(err)
	}
	w.write(dir, "Chart.yaml", "{apiVersion: v2, name: gated, version: 1.2.3}")
	w.write(filepath.Join(dir, "templates"), "all.yaml", configMap("a", text)+fmt.Sprintf(`
---
apiVersion: batch/v1
kind: Job
metadata:
  name: gate
  annotations: {helm.sh/hook: %s, helm.sh/hook-delete-policy: "before-hook-creation,hook-succeeded"}
spec:
  backoffLimit: 0
  template:
    spec:
      restartPolicy: Never
      %s
      volumes: [{name: gate, configMap: {name: gate, optional: true}}]
      containers:
        - name: gate
          image: %s
          command: [sh, -c, "until [ -e /gate/open ]; do sleep 0.1; done"]
          volumeMounts: [{name: gate, mountPath: /gate}]
          %s
`, hook, restricted, workspaceImage, restrictedContainer))
	return dir
}

// endProcess kills the process of the server in a pod.
func (w *world) endProcess(pod string) {
	w.Helper()
	w.endRole(pod, "bundles")
}

// endRole kills the process of a role in a pod, as a node does that has no memory
// left. The processes of the cluster are processes of this host, too.
func (w *world) endRole(pod, role string) {
	w.Helper()
	processes, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		w.Fatal(err)
	}
	for _, process := range processes {
		environment, _ := os.ReadFile(filepath.Join(process, "environ")) // it may have ended
		arguments, _ := os.ReadFile(filepath.Join(process, "cmdline"))
		if !strings.Contains("\x00"+string(environment), "\x00HOSTNAME="+pod+"\x00") ||
			!strings.Contains(string(arguments), "\x00serve\x00"+role+"\x00") {
			continue
		}
		id, err := strconv.Atoi(filepath.Base(process))
		if err == nil {
			err = syscall.Kill(id, syscall.SIGKILL)
		}
		if err != nil {
			w.Fatal(err)
		}
		return
	}
	w.Fatalf("pod %s has no process here", pod)
}
