//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
)

// target is a workload that workspaces are injected into.
type target struct {
	*world
	kind string // deployment, statefulset, daemonset
	api  dynamic.ResourceInterface
}

// workload makes a workload called web and waits until its pods are ready.
func (w *world) workload(kind string, replicas int, change func(spec, pod map[string]any)) *target {
	w.Helper()
	tg := w.workloadThatIsNot(kind, replicas, change)
	paused, _, _ := unstructured.NestedBool(tg.get().Object, "spec", "paused")
	if !paused {
		w.eventually("the workload is up", func() bool { return tg.ready() == replicas })
	}
	return tg
}

// workloadThatIsNot makes one that may never be ready.
func (w *world) workloadThatIsNot(kind string, replicas int, change func(spec, pod map[string]any)) *target {
	w.Helper()
	client, err := dynamic.NewForConfig(w.config)
	if err != nil {
		w.Fatal(err)
	}
	tg := &target{world: w, kind: kind, api: client.Resource(schema.GroupVersionResource{
		Group: "apps", Version: "v1", Resource: kind + "s",
	}).Namespace(w.namespace)}
	names := map[string]string{"deployment": "Deployment", "statefulset": "StatefulSet", "daemonset": "DaemonSet"}
	pod := map[string]any{
		"terminationGracePeriodSeconds": int64(1),
		"containers": []any{map[string]any{
			"name": "web", "image": "docker.io/library/busybox:stable",
			"command": []any{"sh", "-c", "trap exit TERM; while :; do sleep 1; done; echo '<é&\u2028>'"},
		}},
	}
	spec := map[string]any{
		"selector": map[string]any{"matchLabels": map[string]any{"app": "web"}},
		"template": map[string]any{"metadata": map[string]any{"labels": map[string]any{"app": "web"}}, "spec": pod},
	}
	if kind != "daemonset" {
		spec["replicas"] = int64(replicas)
	}
	if change != nil {
		change(spec, pod)
	}
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apps/v1", "kind": names[kind], "metadata": map[string]any{"name": "web"}, "spec": spec,
	}}
	if _, err := tg.api.Create(w.Context(), object, metav1.CreateOptions{}); err != nil {
		w.Fatal(err)
	}
	return tg
}

// user is a user string that means a workspace in the workload.
func (tg *target) user(blueprint string) string {
	return fmt.Sprintf("alice~%s+workload=%s/web+ns=%s", blueprint, tg.kind, tg.namespace)
}

func (tg *target) get() *unstructured.Unstructured {
	tg.Helper()
	object, err := tg.api.Get(tg.Context(), "web", metav1.GetOptions{})
	if err != nil {
		tg.Fatal(err)
	}
	return object
}

// template is the pod template as the API server has it, to the byte.
func (tg *target) template() string {
	tg.Helper()
	template, _, err := unstructured.NestedMap(tg.get().Object, "spec", "template")
	if err != nil {
		tg.Fatal(err)
	}
	text, err := json.Marshal(template)
	if err != nil {
		tg.Fatal(err)
	}
	return string(text)
}

func (tg *target) pods() []corev1.Pod {
	tg.Helper()
	list, err := tg.CoreV1().Pods(tg.namespace).List(tg.Context(), metav1.ListOptions{LabelSelector: "app=web"})
	if err != nil {
		tg.Fatal(err)
	}
	return list.Items
}

func (tg *target) ready() (n int) {
	tg.Helper()
	for _, pod := range tg.pods() {
		if pod.DeletionTimestamp == nil && isReady(&pod) {
			n++
		}
	}
	return n
}

func (tg *target) patch(text string) {
	tg.Helper()
	if _, err := tg.api.Patch(tg.Context(), "web", types.MergePatchType, []byte(text),
		metav1.PatchOptions{}); err != nil {
		tg.Fatal(err)
	}
}

// clean fails the test unless the workload is as it was and nothing is left.
func (tg *target) clean(before string) {
	tg.Helper()
	if after := tg.template(); after != before {
		tg.Errorf("the template was\n%s\nand is\n%s", before, after)
	}
	if text, ok := tg.get().GetAnnotations()[kube.AnnotationInjection]; ok {
		tg.Errorf("the workload still has the annotation %s", text)
	}
	tg.nothingIsLeft()
}

// nothingIsLeft waits until nothing of berth's is there any more. A claim goes
// when the last pod that mounts it has gone.
func (w *world) nothingIsLeft() {
	w.Helper()
	w.eventually("nothing is left", func() bool {
		return !slices.ContainsFunc(w.leftovers(), func(left string) bool {
			return !strings.HasPrefix(left,
				"pod/web-")
		})
	})
}

// Injected and taken out again, a workload is as it was to the byte: every kind,
// with each value of shareProcessNamespace.
func TestInjectAndEject(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		kind     string
		replicas int
		share    string
	}{
		{"deployment", 3, "absent"},
		{"deployment", 1, "true"},
		{"deployment", 1, "false"},
		{"statefulset", 2, "absent"},
		{"statefulset", 1, "true"},
		{"daemonset", 1, "absent"},
		{"daemonset", 1, "false"},
	} {
		t.Run(test.kind+" "+test.share, func(t *testing.T) {
			w := newWorld(t)
			tg := w.workload(test.kind, test.replicas, func(_, pod map[string]any) {
				if test.share != "absent" {
					pod["shareProcessNamespace"] = test.share == "true"
				}
			})
			before := tg.template()
			doc := decode[v1.Workspace](w, w.must(0, "provision", tg.user("dev"), "-o", "json"))
			if doc.Stage != v1.StageRunning || doc.Workload != test.kind+"/web" || doc.Namespace != w.namespace {
				t.Errorf("%+v", doc)
			}
			for _, pod := range tg.pods() {
				if pod.DeletionTimestamp == nil && pod.Labels[kube.LabelCanonicalID] != doc.ID {
					t.Errorf("%s does not have the workspace", pod.Name)
				}
			}
			if n := tg.ready(); n != test.replicas {
				t.Errorf("%d pods are ready, want %d", n, test.replicas)
			}
			w.must(6, "provision", tg.user("dev"))
			w.must(0, "delete", tg.user("dev"))
			for _, pod := range tg.pods() {
				if pod.Labels[kube.LabelCanonicalID] != "" {
					t.Errorf("%s still has the workspace", pod.Name)
				}
			}
			tg.clean(before)
			w.must(7, "delete", tg.user("dev"))
		})
	}
}

// What other commands see of an injected workspace, by its user string and by
// its ID.
func TestInjectedWorkspaceIsFound(t *testing.T) {
	w := newWorld(t)
	tg := w.workload("deployment", 2, nil)
	before := tg.template()
	id := strings.TrimSpace(w.must(0, "provision", tg.user("dev"), "-o", "name").stdout)
	for _, name := range []string{tg.user("dev"), id, "id/" + id} {
		one := decode[v1.Workspace](w, w.must(0, "status", name, "-o", "json"))
		if one.ID != id || one.Stage != v1.StageRunning || one.Workload != "deployment/web" || one.UserString == "" {
			t.Errorf("%s: %+v", name, one)
		}
		// In the image of the workspace, beside the processes of the workload.
		out := w.must(0, "exec", name, "--", "sh", "-c", "cat /etc/team.conf; ps").stdout
		w.contains(out, "colour = blue", "/k8shell/runtime/start.sh", "trap exit TERM")
		if n := strings.Count(w.must(0, "logs", name).stdout, "workspace: ready"); n != 2 {
			t.Errorf("logs of %s have %d replicas, want 2", name, n)
		}
		w.contains(w.must(0, "logs", name, "--all-containers").stdout, "[web-",
			" "+id+"-k8shell-main] workspace: ready")
		w.contains(w.must(0, "diagnose", name).stdout, "Running")
	}
	list := decode[v1.WorkspaceList](w, w.must(0, "status", "-o", "json"))
	if len(list.Items) != 1 || list.Items[0].ID != id || len(list.Items[0].Replicas) != 2 {
		t.Errorf("%+v", list.Items)
	}
	other := w.must(6, "provision", tg.user("plain"))
	w.contains(other.stderr, "CONFLICT", id)
	w.must(0, "delete", "id/"+id)
	tg.clean(before)
}

// Everybody who may make pods can give them a workspace's labels. Such a pod is no part of the
// workspace: it is not listed, counted, entered or copied from.
func TestForeignPods(t *testing.T) {
	w := newWorld(t)
	tg := w.workload("deployment", 1, nil)
	injected := strings.TrimSpace(w.must(0, "provision", tg.user("dev"), "-o", "name").stdout)
	own := strings.TrimSpace(w.must(0, "provision", "bob~dev", "-o", "name").stdout)
	copied := func(name string, from *corev1.Pod) {
		labels := maps.Clone(from.Labels)
		delete(labels, "app") // the workload would adopt it
		_, err := w.CoreV1().Pods(w.namespace).Create(w.Context(), &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels, Annotations: from.Annotations},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{
				Name: injected + "-k8shell-main", Image: "docker.io/library/busybox:stable",
				Command: []string{"sleep", "3600"},
			}}},
		}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		w.eventually(name+" runs", func() bool { return isReady(w.pod(name)) })
	}
	copied("copy-of-injected", &tg.pods()[slices.IndexFunc(tg.pods(),
		func(pod corev1.Pod) bool { return pod.Labels["k8shell.io/injected"] == "true" })])
	copied("copy-of-own", w.pod(own))

	list := decode[v1.WorkspaceList](w, w.must(0, "status", "-o", "json"))
	if len(list.Items) != 2 || len(list.Items[0].Replicas) > 1 || len(list.Items[1].Replicas) > 1 {
		t.Errorf("%+v", list.Items)
	}
	for _, name := range []string{"id/" + injected, tg.user("dev")} {
		if one := decode[v1.Workspace](w, w.must(0, "status", name, "-o", "json")); len(one.Replicas) != 1 ||
			one.Replicas[0].Name == "copy-of-injected" {
			t.Errorf("%s: %+v", name, one)
		}
		w.contains(w.must(0, "exec", name, "--", "hostname").stdout, "web-")
	}
	w.contains(w.must(0, "exec", "id/"+own, "--", "hostname").stdout, own)
	w.must(7, "status", "id/copy-of-injected")
	w.must(0, "delete", "id/"+injected, "id/"+own)
	for _, name := range []string{"copy-of-injected", "copy-of-own"} {
		if pod := w.pod(name); pod == nil || pod.DeletionTimestamp != nil {
			t.Errorf("pod %s, which is no part of a workspace, was deleted", name)
		}
	}
}

// A workspace that cannot come up: the cause is reported, and ejecting it lets the
// workload recover; of a StatefulSet that takes more than a patch.
func TestInjectionFails(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"deployment", "statefulset", "daemonset"} {
		t.Run(kind, func(t *testing.T) {
			w := newWorld(t)
			tg := w.workload(kind, 1, nil)
			before := tg.template()
			doc := decode[v1.Error](w, w.must(3, "provision", tg.user("wrong-tag"), "-o", "json"))
			w.contains(doc.Message, "no-such-tag", "not found")
			if doc.Workspace == nil || doc.Workspace.Cause == nil || doc.Workspace.Cause.Code != "ImageNotFound" {
				t.Errorf("%+v", doc.Workspace)
			}
			// The second time it is patched again, and ends the same.
			w.must(3, "provision", tg.user("wrong-tag"))
			w.must(0, "delete", tg.user("wrong-tag"))
			tg.clean(before)
			w.eventually("the workload has recovered", func() bool { return tg.ready() == 1 })
		})
	}
}

// What cannot work is refused, and what may not last is reported, before anything
// is written.
func TestInjectionIsExamined(t *testing.T) {
	w := newWorld(t)
	tg := w.workload("deployment", 1, nil)
	tg.patch(`{"spec": {"paused": true}, "metadata": {"annotations": {"argocd.argoproj.io/tracking-id": "shop"}}}`)
	before := tg.template()
	r := w.must(3, "provision", tg.user("plain"))
	w.contains(r.stderr, "paused", "kubectl rollout resume deployment/web", "--force", "Argo CD")
	tg.clean(before)
	tg.patch(`{"spec": {"paused": false}}`)
	r = w.must(0, "provision", tg.user("plain"))
	w.contains(r.stderr, "GitOpsOwned", "Argo CD")
	// Paused again, it keeps its pods: that is reported instead of waited for.
	tg.patch(`{"spec": {"paused": true}}`)
	w.contains(w.must(0, "delete", tg.user("plain")).stderr, "kubectl rollout resume deployment/web")
	tg.clean(before)
}

// With OnDelete, pods get the workspace when they are deleted.
func TestInjectOnDelete(t *testing.T) {
	w := newWorld(t)
	tg := w.workload("statefulset", 1, func(spec, _ map[string]any) {
		spec["updateStrategy"] = map[string]any{"type": "OnDelete"}
	})
	before := tg.template()
	run := w.start("provision", tg.user("plain"))
	run.waitFor("OnDelete")
	run.waitFor("step inject")
	if err := w.CoreV1().Pods(w.namespace).Delete(t.Context(), "web-0", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	run.wait().mustBe(w, 0)
	w.contains(w.must(0, "delete", tg.user("plain")).stderr, "OnDelete", "kubectl delete pod")
	tg.clean(before)
}

// A storage that one pod can mount, and more pods than one.
func TestInjectVolumeForOne(t *testing.T) {
	w := newWorld(t)
	tg := w.workload("deployment", 2, nil)
	before := tg.template()
	w.contains(w.must(3, "provision", tg.user("data")).stderr, "2 replicas", "one")
	tg.clean(before)
	w.must(0, "provision", tg.user("data"), "--force") // there is but one node
	w.must(0, "exec", tg.user("data"), "--", "touch", "/data/x")
	w.must(0, "delete", tg.user("data"))
	tg.clean(before)
}

// injectNamespaces restricts where, before anything is asked or written.
func TestInjectNamespaces(t *testing.T) {
	w := newWorld(t)
	tg := w.workload("deployment", 1, nil)
	file := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(file, []byte("injectNamespaces: [elsewhere]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := w.command("provision", tg.user("plain"))
	cmd.Env = append(cmd.Env, "BERTH_CONFIG="+file)
	r := w.finish(cmd)
	r.mustBe(w, 4)
	w.contains(r.stderr, "PERMISSION_DENIED", "elsewhere")
}

// While another client keeps writing to the workload, the patch is made again from
// what they wrote, and nothing of theirs is lost.
func TestInjectMeetsOtherWriters(t *testing.T) {
	w := newWorld(t)
	tg := w.workload("deployment", 1, nil)
	before := tg.template()
	stop, done := make(chan struct{}), make(chan int)
	go func() {
		n := 0
		for {
			select {
			case <-stop:
				done <- n
				return
			default:
				text := fmt.Sprintf(`{"metadata": {"annotations": {"written": "%d"}}}`, n+1)
				if _, err := tg.api.Patch(t.Context(), "web", types.MergePatchType, []byte(text),
					metav1.PatchOptions{}); err == nil {
					n++
				}
				time.Sleep(20 * time.Millisecond) // a busy controller, not a flood
			}
		}
	}()
	w.must(0, "provision", tg.user("plain"))
	w.must(0, "delete", tg.user("plain"))
	close(stop)
	if n := <-done; tg.get().GetAnnotations()["written"] != fmt.Sprint(n) {
		t.Errorf("%d times written, and it says %q", n, tg.get().GetAnnotations()["written"])
	}
	tg.clean(before)
}

// Killed before each write, of either command, the same command heals it.
func TestInjectKilled(t *testing.T) {
	t.Parallel()
	for _, victim := range []string{
		"provision POST configmaps", "provision PATCH deployments",
		"delete PATCH deployments", "delete DELETE configmaps",
	} {
		t.Run(victim, func(t *testing.T) {
			w := newWorld(t)
			tg := w.workload("deployment", 1, nil)
			before := tg.template()
			words := strings.Fields(victim)
			if words[0] == "delete" {
				w.must(0, "provision", tg.user("plain"))
			}
			proxy := w.proxy(killBefore(words[1], words[2]))
			cmd := w.command(words[0], tg.user("plain"))
			cmd.Env = append(cmd.Env, "KUBECONFIG="+proxy.kubeconfig)
			run := w.launch(cmd)
			proxy.kill <- cmd.Process
			if r := run.wait(); r.status != -1 {
				t.Fatalf("it was not killed but ended with %d:\n%s", r.status, r.stderr)
			}
			if words[0] == "provision" {
				w.must(0, "provision", tg.user("plain"))
			}
			w.must(0, "delete", tg.user("plain"))
			tg.clean(before)
		})
	}
}

// Of two at once one works, the other ends the same.
func TestInjectTwiceAtOnce(t *testing.T) {
	w := newWorld(t)
	tg := w.workload("deployment", 1, nil)
	var jobs []string
	for _, run := range []*process{
		w.start("provision", tg.user("busy"), "-o", "json"),
		w.start("provision", tg.user("busy"), "-o", "json"),
	} {
		r := run.wait()
		r.mustBe(w, 0)
		jobs = append(jobs, decode[v1.Workspace](w, r).JobID)
	}
	if jobs[0] != jobs[1] {
		t.Errorf("two jobs have worked: %s", jobs)
	}
	deployment, err := w.AppsV1().Deployments(w.namespace).Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := deployment.Annotations["deployment.kubernetes.io/revision"]; got != "2" {
		t.Errorf("revision %s, want 2: it was patched once", got)
	}
	if n := len(deployment.Spec.Template.Spec.Containers); n != 2 {
		t.Errorf("%d containers", n)
	}
}
