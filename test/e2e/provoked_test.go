//go:build e2e

package e2e

import (
	"context"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/berthdev/berth/api/v1"
)

// What a reading of the real cluster says of each family of causes that can be
// provoked on it. The expressions ignore case.
func TestProvoked(t *testing.T) {
	w := newWorld(t)
	t.Cleanup(func() {
		_ = w.AdmissionregistrationV1().ValidatingWebhookConfigurations().
			Delete(context.Background(), "down-"+w.namespace, metav1.DeleteOptions{})
	})
	w.provoke("testdata/provoked.yaml")
	w.loseVolume("lost-" + w.namespace)
	w.provoke("testdata/lost-claim.yaml")

	for subject, want := range map[string]struct {
		verdict v1.Verdict
		says    []string // of the message, the cause and the warnings
		hint    string
	}{
		"pod/poststart-hangs":   {v1.VerdictWaiting, []string{"post-?start"}, "post-?start"},
		"pod/poststart-fails":   {v1.VerdictFailed, []string{"post-?start"}, "post-?start"},
		"pod/unknown-authority": {v1.VerdictFailed, []string{"unknown authority"}, "certificate|authority"},
		"pod/read-only":         {v1.VerdictFailed, []string{"Read-only file system"}, "emptyDir|writable"},
		"pod/sysctl": {
			v1.VerdictFailed,
			[]string{"PodRejected|SysctlForbidden", "kernel.msgmax"},
			"allowedUnsafeSysctls",
		},
		"pod/old-processor":    {v1.VerdictFailed, []string{"CPU does not support"}, "processor"},
		"pod/open-files":       {v1.VerdictFailed, []string{"too many open files"}, "inotify"},
		"pod/worker":           {v1.VerdictFailed, []string{"Perhaps out of memory"}, "memory"},
		"pod/no-driver":        {v1.VerdictWaiting, []string{"secrets-store.csi.k8s.io"}, "csinodes"},
		"pod/kueue":            {v1.VerdictWaiting, []string{"kueue"}, "workloads.kueue.x-k8s.io"},
		"pod/full":             {v1.VerdictFailed, []string{"Evicted", "exceeds"}, "Raise the limit"},
		"pod/gated":            {v1.VerdictWaiting, []string{"example.com/license"}, "gate"},
		"pod/silent-scheduler": {v1.VerdictWaiting, []string{"volcano"}, "scheduler"},
		"pod/lost-claim":       {v1.VerdictWaiting, []string{"lost-"}, "claim|volume"},
		"job/suspended":        {v1.VerdictWaiting, []string{"suspend"}, "suspend|resume"},
		"job/gives-up":         {v1.VerdictFailed, []string{"exit code 2", "no such host"}, ""},
		"deployment/paused":    {v1.VerdictWaiting, []string{"paused"}, "rollout resume"},
		"deployment/deadline":  {v1.VerdictWaiting, []string{"probe"}, "healthz"},
		"deployment/refused":   {v1.VerdictWaiting, []string{"policy.example.com"}, "webhook"},
	} {
		t.Run(strings.ReplaceAll(subject, "/", "-"), func(t *testing.T) {
			w := *w
			w.T = t
			w.eventuallyRead(subject, want.verdict, want.hint, want.says...)
		})
	}
}

// A node of which the kubelet is silent is named, also when it is silent for
// good: by a diagnosis, and by who follows a workspace there. The scheduler would tell
// others of such a node, so nothing runs beside.
func TestNodeThatIsLost(t *testing.T) {
	w := newWorldAlone(t)
	name := "lost-" + w.namespace
	t.Cleanup(func() {
		_ = w.CoreV1().Nodes().Delete(context.Background(), name, metav1.DeleteOptions{})
		now := int64(0)
		_ = w.CoreV1().Pods(w.namespace).
			Delete(context.Background(), "on-lost-node", metav1.DeleteOptions{GracePeriodSeconds: &now})
	})
	w.provoke("testdata/lost-node.yaml")
	w.beatOnce(name)
	web := w.workloadThatIsNot("deployment", 1, func(_, pod map[string]any) {
		pod["nodeName"], pod["tolerations"] = name, []any{map[string]any{"operator": "Exists"}}
	})
	admin := *w
	admin.kubeconfig = w.admin
	sees := admin.start("provision", web.user("data"))
	sees.waitFor("step inject")

	admin.eventuallyRead("pod/on-lost-node", v1.VerdictWaiting, "node", name, "not ready|silent|stopped posting")
	// Anyone who may not read nodes is told that, and sees the rest.
	d := decode[v1.Diagnosis](w, w.must(0, "diagnose", "pod/on-lost-node", "-o", "json"))
	if d.Node != name || !strings.Contains(strings.Join(d.Unread, " "), "node") {
		t.Errorf("without the permission to get nodes: %+v", d)
	}
	sees.waitFor("node " + name + " has not been heard from since")
	ws := decode[v1.Workspace](w, w.must(0, "status", web.user("data"), "-o", "json"))
	if !strings.Contains(strings.Join(ws.Unread, " "), "get nodes") || ws.Cause == nil ||
		!strings.Contains(ws.Cause.Message, "node "+name+" has said nothing about the pod since") {
		t.Errorf("without the permission to get nodes: %+v", ws)
	}
	sees.signal(os.Interrupt)
}

// provoke applies manifests in the namespace of the test.
func (w *world) provoke(path string) {
	w.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		w.Fatal(err)
	}
	w.kubectl("apply", "--filename",
		w.write(w.TempDir(), "manifests.yaml", strings.ReplaceAll(string(text), "NAMESPACE", w.namespace)))
}

// loseVolume takes a bound volume away from its claim.
func (w *world) loseVolume(name string) {
	w.Helper()
	volumes := w.CoreV1().PersistentVolumes()
	w.eventually("the claim is bound", func() bool {
		volume, err := volumes.Get(w.Context(), name, metav1.GetOptions{})
		return err == nil && volume.Status.Phase == corev1.VolumeBound
	})
	if err := volumes.Delete(w.Context(), name, metav1.DeleteOptions{}); err != nil {
		w.Fatal(err)
	}
	if _, err := volumes.Patch(w.Context(), name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`),
		metav1.PatchOptions{}); err != nil {
		w.Fatal(err)
	}
	w.eventually("the claim has lost it", func() bool {
		claim, err := w.CoreV1().PersistentVolumeClaims(w.namespace).Get(w.Context(), "data", metav1.GetOptions{})
		return err == nil && claim.Status.Phase == corev1.ClaimLost
	})
}

// beatOnce reports a node as ready once, and never again.
func (w *world) beatOnce(name string) {
	w.Helper()
	node, err := w.CoreV1().Nodes().Get(w.Context(), name, metav1.GetOptions{})
	if err != nil {
		w.Fatal(err)
	}
	now := metav1.Now()
	node.Status.Conditions = []corev1.NodeCondition{{
		Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady",
		Message:           "kubelet is posting ready status",
		LastHeartbeatTime: now, LastTransitionTime: now,
	}}
	if _, err := w.CoreV1().Nodes().UpdateStatus(w.Context(), node, metav1.UpdateOptions{}); err != nil {
		w.Fatal(err)
	}
}

// eventuallyRead waits until diagnose says of a subject what it is to say.
func (w *world) eventuallyRead(subject string, verdict v1.Verdict, hint string, says ...string) {
	w.Helper()
	var last v1.Diagnosis
	defer func() {
		if w.Failed() {
			w.Logf("%s is %s, %q with the hint %q and the cause %+v", subject, last.Verdict, last.Message, last.Hint,
				last.Cause)
		}
	}()
	matches := func(expr, text string) bool { return regexp.MustCompile("(?is)" + expr).MatchString(text) }
	w.eventually(subject+" is read as it should be", func() bool {
		last = decode[v1.Diagnosis](w, w.must(0, "diagnose", subject, "-o", "json"))
		text := last.Message
		if last.Cause != nil {
			text += " | " + last.Cause.Code + ": " + last.Cause.Message
		}
		for _, warning := range last.Warnings {
			text += " | " + warning.Message
		}
		return last.Verdict == verdict && matches(hint, last.Hint) &&
			!slices.ContainsFunc(says, func(expr string) bool { return !matches(expr, text) })
	})
}
