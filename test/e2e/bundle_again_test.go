//go:build e2e

package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/berthdev/berth/api/v1"
)

// newBundlesAlone is newBundles for a test that works on all instances of the cluster, one
// of TestServers.
func newBundlesAlone(t *testing.T) *world {
	t.Helper()
	w := newWorldAlone(t)
	w.kubeconfig, w.limited = w.admin, w.config
	return w
}

// chart writes a chart of one file of templates.
func (w *world) chart(name, templates string) string {
	w.Helper()
	dir := w.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "templates"), 0o755); err != nil {
		w.Fatal(err)
	}
	w.write(dir, "Chart.yaml", "{apiVersion: v2, name: "+name+", version: 1.2.3}")
	w.write(filepath.Join(dir, "templates"), "all.yaml", templates)
	return dir
}

// reconciled makes a pass, and makes sure that it did not fail with the instance of the
// world. What failed tests have left is of no interest.
func (w *world) reconciled() {
	w.Helper()
	for _, item := range decode[v1.BundleReconciliation](w,
		w.berth("bundle", "reconcile", "--system-namespace", w.namespace, "-o", "json")).Items {
		if item.Object == "bundleinstance/"+w.instance() {
			if item.Error != nil {
				w.Errorf("%+v", item.Error)
			}
			return
		}
	}
	w.Errorf("there was no pass over %s", w.instance())
}

// A chart that renders otherwise each time is installed once: what is repaired is what was
// recorded. Other values are an upgrade.
func testBundleThatRendersAgain(t *testing.T) {
	w := newBundlesAlone(t)
	dir := w.chart("again", `
apiVersion: v1
kind: ConfigMap
metadata: {name: random}
data: {text: "{{ .Values.greeting | default "hello" }} {{ randAlphaNum 12 }} {{ now | unixEpoch }}"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: revision}
data: {text: "{{ .Release.Revision }} {{ .Release.IsUpgrade }} `+
		`{{ not (lookup "v1" "ConfigMap" .Release.Namespace "random") }}"}
`)
	w.write(filepath.Join(dir, "templates"), "NOTES.txt", "call {{ randAlphaNum 12 }}")
	values := w.write(w.TempDir(), "values.yaml", "greeting: hello")
	args := []string{dir, "--values", values, "-o", "json"}
	install := func() v1.BundleInstallation { return decode[v1.BundleInstallation](w, w.bundle(0, "install", args...)) }
	first := install()
	was := w.texts()
	if first.Action != v1.BundleInstalled || first.Revision != 1 || was["revision"] != "1 false true" {
		t.Fatalf("%+v, %v", first, was)
	}
	unchanged := func(objects int) {
		t.Helper()
		i := install()
		if i.Action != v1.BundleUnchanged || i.Revision != 1 || i.Notes != first.Notes || i.Bundle != first.Bundle ||
			i.Objects.Unchanged != objects || !i.Healthy {
			t.Errorf("%+v", i)
		}
		w.says(was)
	}
	unchanged(2)
	if d := decode[v1.BundleDiff](w, w.bundle(0, "diff", append(args, "--exit-code")...)); len(d.Items) > 0 {
		t.Errorf("%+v", d)
	}
	drift := func() {
		w.kubectl("patch", "configmap", "random", "--type", "merge", "--patch", `{"data":{"text":"theirs"}}`)
		w.kubectl("delete", "configmap", "revision")
	}
	drift()
	w.contains(w.bundle(3, "diff", dir, "--values", values, "--exit-code").stdout, "+  text: "+was["random"],
		"create configmap/revision")
	unchanged(0)
	w.reconciled()
	w.says(was)
	drift()
	w.reconciled()
	w.says(was)

	var requests, watches atomic.Int64
	r := w.finish(w.through(append([]string{"bundle", "install", w.instance(), "--system-namespace", w.namespace},
		args...), func(out http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.URL.Query().Get("watch") != "" {
			watches.Add(1)
		} else {
			requests.Add(1)
		}
		next.ServeHTTP(out, r)
	}))
	r.mustBe(w, 0)
	more := int64(w.lists(1) / 2) // of either: the watch that is refused, and the list
	if requests.Load() > 10+more || watches.Load() > 1+more {
		t.Errorf("an upgrade that changes nothing takes %d requests and %d watches", requests.Load(), watches.Load())
	}

	w.write(filepath.Dir(values), "values.yaml", "greeting: moin")
	upgraded := install()
	now := w.texts()
	if upgraded.Action != v1.BundleUpgraded || upgraded.Revision != 2 || now["revision"] != "2 true false" ||
		now["random"] == was["random"] {
		t.Errorf("%+v, %v", upgraded, now)
	}
	w.reconciled()
	w.says(now)
	secrets, err := w.CoreV1().Secrets(w.namespace).
		List(t.Context(), metav1.ListOptions{LabelSelector: "owner=helm,name=" + w.instance()})
	if err != nil || len(secrets.Items) != 2 {
		t.Errorf("%d revisions, %v", len(secrets.Items), err)
	}
	// What a user has rolled back with helm is not what was made of these values.
	w.helm("rollback", w.instance(), "1")
	args = append(args, "--force-conflicts")
	if back := install(); back.Action != v1.BundleUpgraded || back.Revision != 4 ||
		w.texts()["revision"] != "4 true false" {
		t.Errorf("%+v, %v", back, w.texts())
	}
	w.uninstalled()
}

// A chart that asks what the cluster has is rendered again once the cluster does not have
// it any more.
func TestBundleOfAKindThatGoes(t *testing.T) {
	w := newBundles(t)
	group := w.namespace + ".example.com"
	definition := w.defineBoat(group)
	dir := w.chart("kinds", `
{{- if .Capabilities.APIVersions.Has "`+group+`/v1/Boat" }}
apiVersion: `+group+`/v1
kind: Boat
metadata: {name: a}
{{- else }}
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
data: {text: "no boats"}
{{- end }}
`)
	w.bundle(0, "install", dir)
	w.says(map[string]string{})
	w.kubectl("delete", "--filename", definition)
	r := w.bundle(0, "install", dir, "-o", "json")
	if strings.Contains(r.stderr, "failed") {
		t.Error(r.stderr)
	}
	i := decode[v1.BundleInstallation](w, r)
	if i.Action != v1.BundleUpgraded || i.Revision != 2 {
		t.Errorf("%+v", i)
	}
	w.says(map[string]string{"a": "no boats"})
	w.uninstalled()
}
