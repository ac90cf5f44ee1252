//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/berthdev/berth/internal/rbac"
	"github.com/berthdev/berth/internal/schematest"
)

// world is one test's namespace on the cluster.
type world struct {
	*testing.T
	kubernetes.Interface
	// The test's own client may do everything. Berth is run as a developer who
	// has the Role of docs/rbac.md in the namespace and may act for others.
	admin      string       // kubeconfig
	config     *rest.Config // likewise
	limited    *rest.Config // of berth
	kubeconfig string       // of berth
	account    string       // likewise, a ServiceAccount of the namespace
	namespace  string
	acting     bool // whether the accounts of the namespace may act for any user
}

// newWorld makes a namespace and waits until pods can be made in it. The test
// runs beside the others.
func newWorld(t *testing.T) *world {
	t.Helper()
	parallel(t)
	return newWorldAlone(t)
}

// newWorldAlone is newWorld for a test that runs before those that are parallel.
func newWorldAlone(t *testing.T) *world {
	t.Helper()
	w := newBareWorld(t)
	w.actForAnybody()
	return w.as(w.role(rbac.Developer()))
}

// offers waits until completion offers all of this. It has a second or two, and leaves out what a busy API server does
// not say in that time.
func (w *world) offers(words []string, all ...string) {
	w.Helper()
	w.eventually("completion offers "+strings.Join(all, " "), func() bool {
		offered := w.must(0, append([]string{"__complete"}, words...)...).stdout
		return !slices.ContainsFunc(all, func(one string) bool { return !strings.Contains(offered, one) })
	})
}

// newBareWorld makes a namespace in which no user may do anything.
func newBareWorld(t *testing.T) *world {
	t.Helper()
	kubeconfig := os.Getenv(kubeconfigVariable)
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{T: t, Interface: client, admin: kubeconfig, config: config}
	made, err := client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "e2e-"},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w.namespace = made.Name
	t.Cleanup(func() {
		_ = client.CoreV1().Namespaces().Delete(context.Background(), w.namespace, metav1.DeleteOptions{})
	})
	w.eventually("the namespace has its service account", func() bool {
		_, err := client.CoreV1().ServiceAccounts(w.namespace).Get(t.Context(), "default", metav1.GetOptions{})
		return err == nil
	})
	return w
}

// patience is how long a test waits for anything before it gives up. It is
// not a target for berth: a machine may be busy.
const patience = 3 * time.Minute

// eventually waits for a condition.
func (w *world) eventually(what string, condition func() bool) {
	w.Helper()
	deadline := time.Now().Add(patience)
	for !condition() {
		if time.Now().After(deadline) {
			w.Fatalf("after %s still not: %s", patience, what)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// result is how a run of berth ended.
type result struct {
	stdout, stderr string
	status         int
}

// command is berth with these arguments, not started yet.
func (w *world) command(args ...string) *exec.Cmd {
	w.Helper()
	blueprints, err := filepath.Abs("testdata/blueprints")
	if err != nil {
		w.Fatal(err)
	}
	cmd := exec.Command(binary, args...)
	cmd.Env = append(os.Environ(),
		"KUBECONFIG="+w.kubeconfig,
		"BERTH_BLUEPRINTS="+blueprints,
		"XDG_CONFIG_HOME="+w.TempDir(),
	)
	cmd.Args = append([]string{binary, "--namespace", w.namespace}, args...)
	return cmd
}

// berth runs berth to its end.
func (w *world) berth(args ...string) result {
	w.Helper()
	return w.finish(w.command(args...))
}

func (w *world) finish(cmd *exec.Cmd) result {
	w.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	r := result{stdout: stdout.String(), stderr: stderr.String()}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		r.status = exit.ExitCode()
	} else if err != nil {
		w.Fatal(err)
	}
	return r
}

// must runs berth and fails the test unless it ends with this status.
func (w *world) must(status int, args ...string) result {
	w.Helper()
	r := w.berth(args...)
	r.mustBe(w, status)
	return r
}

func (r result) mustBe(w *world, status int) {
	w.Helper()
	if r.status != status {
		w.Fatalf("exit status %d, want %d\nstdout:\n%s\nstderr:\n%s", r.status, status, r.stdout, r.stderr)
	}
}

// decode reads the one document that stdout is, and checks it against its
// schema.
func decode[T any](w *world, r result) T {
	w.Helper()
	schematest.Validate(w, []byte(r.stdout))
	var document T
	decoder := json.NewDecoder(strings.NewReader(r.stdout))
	if err := decoder.Decode(&document); err != nil {
		w.Fatalf("stdout is not a document: %v\n%s", err, r.stdout)
	}
	if decoder.More() {
		w.Fatalf("stdout is more than one document:\n%s", r.stdout)
	}
	return document
}

// contains fails the test unless text has all of these words.
func (w *world) contains(text string, words ...string) {
	w.Helper()
	for _, word := range words {
		if !strings.Contains(text, word) {
			w.Errorf("%q is not in:\n%s", word, text)
		}
	}
}

// pod is the workspace's pod; nil if there is none.
func (w *world) pod(id string) *corev1.Pod {
	w.Helper()
	pod, err := w.CoreV1().Pods(w.namespace).Get(w.Context(), id, metav1.GetOptions{})
	if err != nil {
		return nil
	}
	return pod
}

// leftovers names whatever berth may have made in the namespace and has not
// removed.
func (w *world) leftovers() (names []string) {
	w.Helper()
	core, all := w.CoreV1(), metav1.ListOptions{}
	pods, _ := core.Pods(w.namespace).List(w.Context(), all)
	services, _ := core.Services(w.namespace).List(w.Context(), all)
	maps, _ := core.ConfigMaps(w.namespace).List(w.Context(), all)
	secrets, _ := core.Secrets(w.namespace).List(w.Context(), all)
	claims, _ := core.PersistentVolumeClaims(w.namespace).List(w.Context(), all)
	leases, err := w.CoordinationV1().Leases(w.namespace).List(w.Context(), all)
	if err != nil {
		w.Fatal(err)
	}
	for _, o := range pods.Items {
		names = append(names, "pod/"+o.Name)
	}
	for _, o := range services.Items {
		names = append(names, "service/"+o.Name)
	}
	for _, o := range maps.Items {
		// The record of a job outlives the workspace, on purpose.
		if o.Name != "kube-root-ca.crt" && !strings.HasPrefix(o.Name, "k8shell-job-") {
			names = append(names, "configmap/"+o.Name)
		}
	}
	for _, o := range secrets.Items {
		names = append(names, "secret/"+o.Name)
	}
	for _, o := range claims.Items {
		if o.DeletionTimestamp == nil { // or a controller takes it out, once it has seen that no pod uses it
			names = append(names, "persistentvolumeclaim/"+o.Name)
		}
	}
	for _, o := range leases.Items {
		if !strings.HasPrefix(o.Name, "berth-leader-") { // of a loop, which is of no workspace
			names = append(names, "lease/"+o.Name)
		}
	}
	return names
}
