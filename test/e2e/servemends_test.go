//go:build e2e

package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
)

// soon is how long a server may take that notices a change by itself. Its period is an hour.
const soon = 30 * time.Second

// within waits until something is so, and fails the test if that takes longer than soon.
func (w *world) within(what string, condition func() bool) {
	w.Helper()
	begun := time.Now()
	w.eventually(what, condition)
	if took := time.Since(begun); took > soon {
		w.Errorf("%s: it took %s", what, took)
	}
}

// A server that is told to look once an hour puts back within seconds what somebody deletes or edits, and says within
// seconds whether all is healthy: nobody else looks. What it puts back is no new revision, and it leaves alone what is
// as it should be.
func testServeMends(t *testing.T) {
	w := newServing(t, "cluster-admin", "--period", "1h")
	probe := sleeping + `        readinessProbe: {periodSeconds: 1, failureThreshold: 1, exec: {command: [sh, -c, ` +
		`"test ! -e /state/broken"]}}` + "\n"
	w.apply(contentOf("one", configMap("a", "one"), configMap("b", "two"), program("web", workspaceImage, probe)),
		w.plainOf(v1alpha1.ClassPlain, "one"))
	w.installedBundle()
	want := map[string]string{"a": "one", "b": "two"}
	w.says(want)
	same := func() bool { return fmt.Sprint(w.texts()) == fmt.Sprint(want) }
	untouched := w.versionOf("b")

	w.kubectl("delete", "configmap", "a")
	w.within("what was deleted is back", same)
	w.kubectl("patch", "configmap", "a", "--type", "merge", "--patch", `{"data": {"text": "another"}}`)
	w.within("what was edited is as it was", same)
	w.kubectl("label", "configmap", "a", v1alpha1.LabelOwnerName+"-", v1alpha1.LabelOwnerKind+"-")
	w.within("what has lost its labels has them again", same)
	if now := w.versionOf("b"); now != untouched {
		t.Errorf("what nobody has changed was written: version %s, and %s before", now, untouched)
	}

	w.kubectl("exec", "deployment/web", "--", "touch", "/state/broken")
	w.within("the instance says what is not healthy", func() bool {
		healthy := condition(w.wanted().Status.Conditions, v1alpha1.ConditionHealthy)
		return strings.HasPrefix(healthy, "False/") && strings.Contains(healthy, "deployment/web")
	})
	w.kubectl("exec", "deployment/web", "--", "rm", "/state/broken")
	w.within("it is healthy again", func() bool {
		return strings.HasPrefix(condition(w.wanted().Status.Conditions, v1alpha1.ConditionHealthy), "True/")
	})
	w.installedBundle()
	secrets, err := w.CoreV1().Secrets(w.namespace).List(t.Context(), metav1.ListOptions{LabelSelector: "owner=helm"})
	if err != nil || len(secrets.Items) != 1 {
		t.Errorf("there are %d revisions, %v: what is put back is none", len(secrets.Items), err)
	}

	w.kubectl("delete", "bundleinstances.core.rukpak.io", w.instance(), "--wait")
	w.eventually("what it installed is gone, and nobody puts it back", func() bool { return len(w.texts()) == 0 })
}

// versionOf is the version of a ConfigMap.
func (w *world) versionOf(name string) string {
	w.Helper()
	c, err := w.CoreV1().ConfigMaps(w.namespace).Get(w.Context(), name, metav1.GetOptions{})
	if err != nil {
		w.Fatal(err)
	}
	return c.ResourceVersion
}
