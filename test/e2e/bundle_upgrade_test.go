//go:build e2e

package e2e

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/berthdev/berth/api/v1"
)

// beforeLock starts a command that waits before it takes the lock, until it is let go.
func (w *world) beforeLock(args ...string) (p *process, let func()) {
	w.Helper()
	reached, free := make(chan struct{}), make(chan struct{})
	reach, let := sync.OnceFunc(func() { close(reached) }), sync.OnceFunc(func() { close(free) })
	w.Cleanup(let)
	p = w.launch(w.through(args, func(out http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/leases") {
			reach()
			<-free
		}
		next.ServeHTTP(out, r)
	}))
	w.eventually("it is about to take the lock", func() bool {
		select {
		case <-reached:
			return true
		default:
			return false
		}
	})
	return p, let
}

// agree makes sure that the cluster, the instance and the release say the same.
func (w *world) agree(dir string, want map[string]string) {
	w.Helper()
	w.says(want)
	w.bundle(0, "diff", dir, "--exit-code")
	state := decode[v1.BundleState](w, w.bundle(0, "status", "-o", "json"))
	if state.State != v1.BundleHealthy || len(state.Bundles) != 1 || state.Bundles[0].Name != state.Installed {
		w.Errorf("%+v", state)
	}
	manifest := w.helm("get", "manifest", w.instance())
	for name, text := range want {
		w.contains(manifest, "name: "+name, "text: "+text)
	}
	i := decode[v1.BundleInstallation](w, w.bundle(0, "install", dir, "-o", "json"))
	if i.Action != v1.BundleUnchanged || i.Bundle != state.Installed || i.Revision != state.Revision {
		w.Errorf("%+v, and %+v", i, state)
	}
}

// An installation that another one has overtaken before it had the lock is told so, and
// changes nothing; an uninstallation removes what there is by then.
func TestBundleOvertaken(t *testing.T) {
	w := newBundles(t)
	args := func(verb string, more ...string) []string {
		return append([]string{"bundle", verb, w.instance(), "--system-namespace", w.namespace}, more...)
	}
	first, second := w.plain(configMap("a", "one")), w.plain(configMap("a", "two"))
	w.bundle(0, "install", first)
	again, let := w.beforeLock(args("install", first)...)
	w.bundle(0, "install", second)
	let()
	r := again.wait()
	r.mustBe(w, 6)
	w.contains(r.stderr, "was changed at the same time by another client")
	w.agree(second, map[string]string{"a": "two"})

	uninstall, let := w.beforeLock(args("uninstall")...)
	w.bundle(0, "install", w.plain(configMap("b", "three"),
		`{apiVersion: v1, kind: ServiceAccount, metadata: {name: late}}`))
	let()
	uninstall.wait().mustBe(w, 0)
	accounts, err := w.CoreV1().ServiceAccounts(w.namespace).
		List(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=late"})
	if err != nil || len(accounts.Items) != 0 {
		t.Errorf("left: %v, %v", accounts, err)
	}
	w.uninstalled()
}

// hooked writes a chart whose hook after an upgrade fails if the values say so.
func (w *world) hooked() string {
	w.Helper()
	dir := w.chart("web", `
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
data: {text: "{{ .Values.text }}"}
{{- if .Values.more }}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: "{{ .Values.more }}"}
data: {text: more}
{{- end }}
---
apiVersion: batch/v1
kind: Job
metadata:
  name: hook
  annotations: {helm.sh/hook: post-upgrade, helm.sh/hook-delete-policy: before-hook-creation}
spec:
  backoffLimit: 0
  template:
    spec:
      restartPolicy: Never
      containers: [{name: x, image: `+workspaceImage+`, command: ["{{ .Values.hook }}"]}]
`)
	w.write(dir, "values.yaml", "{text: one, hook: 'true', more: ''}")
	return dir
}

// After an upgrade whose last hook fails, all is as it was before, and the instance says
// what is installed and what failed; so it is however often it fails.
func TestBundleHookFails(t *testing.T) {
	w := newBundles(t)
	dir := w.hooked()
	w.bundle(0, "install", dir)
	failing := w.write(w.TempDir(), "values.yaml", "{text: two, hook: 'false', more: b}")
	for range 2 {
		w.contains(w.bundle(3, "install", dir, "--values", failing).stderr, "hook", "what was installed before is back")
		w.says(map[string]string{"a": "one"})
	}
	state := decode[v1.BundleState](w, w.bundle(0, "status", "-o", "json"))
	if state.State != v1.BundleFailed || state.Revision != 1 || len(state.Objects) != 1 {
		t.Errorf("%+v", state)
	}
	for _, c := range state.Conditions {
		if c.Type == "Healthy" && c.Status != "Unknown" {
			t.Errorf("%+v", c)
		}
	}
	if records := strings.Count(w.helm("history", w.instance(), "-o", "json"), `"status":"failed"`); records != 1 {
		t.Errorf("%d records of the same attempt", records)
	}
	w.bundle(0, "install", dir, "--values", w.write(w.TempDir(), "values.yaml", "{text: three, more: c}"))
	w.says(map[string]string{"a": "three", "c": "more"})
	w.uninstalled()
}

// What an upgrade has made that was killed before it was recorded goes with the next one,
// of whatever kind it is.
func TestBundleKilledAndThenAnother(t *testing.T) {
	w := newBundles(t)
	left := func() int {
		list, err := w.CoreV1().ServiceAccounts(w.namespace).
			List(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=late"})
		if err != nil {
			t.Fatal(err)
		}
		return len(list.Items)
	}
	w.bundle(0, "install", w.plain(configMap("a", "one")))
	between := w.proxy(killBefore(http.MethodPut, "secrets"))
	cmd := w.command("bundle", "install", w.instance(),
		w.plain(configMap("a", "two"), `{apiVersion: v1, kind: ServiceAccount, metadata: {name: late}}`),
		"--system-namespace", w.namespace)
	cmd.Env = append(cmd.Env, "KUBECONFIG="+between.kubeconfig)
	run := w.launch(cmd)
	between.kill <- cmd.Process
	run.wait().mustBe(w, -1)
	if left() != 1 {
		t.Fatal("it was killed too early")
	}
	third := w.plain(configMap("a", "three"))
	w.bundle(0, "install", third)
	if left() != 0 {
		t.Error("what the killed one has made is left")
	}
	w.agree(third, map[string]string{"a": "three"})
	w.uninstalled()
}

// A bundle stays in its namespace, whatever that of the context is; one that is asked for
// is refused.
func TestBundleStaysInItsNamespace(t *testing.T) {
	w := newBundles(t)
	w.bundle(0, "install", w.plain(configMap("a", "one")))
	next := w.plain(configMap("a", "two"))
	r := w.bundle(6, "install", next, "--namespace", "default")
	w.contains(r.stderr, "is installed in namespace "+w.namespace, "leave out --namespace")
	w.bundle(6, "diff", next, "--namespace", "default")
	w.says(map[string]string{"a": "one"})
	cmd := w.command("bundle", "install", w.instance(), next, "--system-namespace", w.namespace, "-o", "json")
	cmd.Args = slices.Delete(cmd.Args, 1, 3) // --namespace
	r = w.finish(cmd)
	r.mustBe(w, 0)
	i := decode[v1.BundleInstallation](w, r)
	if i.Namespace != w.namespace || i.Objects.Updated != 1 || i.Objects.Created+i.Objects.Deleted != 0 {
		t.Errorf("%+v", i)
	}
	w.agree(next, map[string]string{"a": "two"})
	w.uninstalled()
}
