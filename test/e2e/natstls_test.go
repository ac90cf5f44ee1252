//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/certtest"
	"github.com/berthdev/berth/internal/rbac"
)

// certify makes the certificate that NATS has: for its Service, not for where a
// forwarded port ends.
func (w *world) certify(authority *certtest.Authority) {
	w.Helper()
	pair := authority.Issue(time.Now().Add(time.Hour), "nats."+w.namespace+".svc")
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "nats-tls"}, Type: corev1.SecretTypeTLS,
		Data: map[string][]byte{},
	}
	for key, file := range map[string]string{corev1.TLSCertKey: pair.Cert, corev1.TLSPrivateKeyKey: pair.Key} {
		text, err := os.ReadFile(file)
		if err != nil {
			w.Fatal(err)
		}
		secret.Data[key] = text
	}
	if _, err := w.CoreV1().Secrets(w.namespace).Create(w.Context(), secret, metav1.CreateOptions{}); err != nil {
		w.Fatal(err)
	}
}

// withNATS is berth with the configuration of a NATS in the namespace.
func (w *world) withNATS(password, ca string) func(args ...string) *exec.Cmd {
	w.Helper()
	config := filepath.Join(w.TempDir(), "config.yaml")
	text := fmt.Sprintf("jobs: {nats: {service: {namespace: %s, name: nats}, user: berth, password: %s, "+
		"tls: {ca: %s}}}\n", w.namespace, password, ca)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		w.Fatal(err)
	}
	return func(args ...string) *exec.Cmd {
		cmd := w.command(args...)
		cmd.Env = append(cmd.Env, "BERTH_CONFIG="+config)
		return cmd
	}
}

// NATS in the cluster that speaks TLS and wants a password, behind a forwarded
// port: a job is followed from another terminal, listed and shown, and with the
// wrong CA or password nothing but a warning comes of it.
func TestJobInNATSOverTLS(t *testing.T) {
	w := newWorld(t)
	w = w.as(w.role(rbac.Developer()), w.role(rbac.Named(rbac.JobsInNATS)))
	authority := certtest.New(t)
	w.certify(authority)
	w.installNATS()
	berth := w.withNATS("berth-test", authority.File)
	for user, status := range map[string]int{"alice~busy": 0, "bob~crashing": 3} {
		w.followedInNATS(berth, user, status)
	}
	if n := w.recordsInTheCluster(); n != 0 {
		t.Errorf("%d records are in the cluster", n)
	}
	var r result
	w.eventually("doctor reaches NATS in its time", func() bool {
		r = w.finish(berth("doctor", "-o", "json"))
		return strings.Contains(r.stdout, "keeps records for 48h")
	})
	r.mustBe(w, 0)
	w.item(r, "nats", v1.CheckupOK, "keeps records for 48h (2 in bucket workspace-provision-jobs)")

	for user, c := range map[string]struct{ password, ca, key string }{
		"carol~plain": {"berth-test", certtest.New(t).File, "jobs.nats.tls.ca"},
		"dave~plain":  {"hunter2", authority.File, "jobs.nats.password"},
	} {
		wrong := w.withNATS(c.password, c.ca)
		r := w.finish(wrong("provision", user))
		r.mustBe(w, 0)
		w.contains(r.stderr, "the job record is in the cluster until a command reaches NATS", c.key)
		if n := strings.Count(r.stderr, "warning:"); n != 1 || strings.Contains(r.stderr+r.stdout, "hunter2") {
			t.Errorf("%d warnings, or a password, in:\n%s", n, r.stderr)
		}
		w.eventually("doctor says which setting is wrong", func() bool { // and not that the port-forward was too slow
			r = w.finish(wrong("doctor", "-o", "json"))
			return r.status == 0 && strings.Contains(r.stdout, c.key)
		})
		w.item(r, "nats", v1.CheckupWarning, c.key)
	}
	r = w.finish(berth("doctor", "-o", "json"))
	w.item(r, "records", v1.CheckupOK, "2 wait for NATS")
	r = w.fromNATS(func() result { return w.finish(berth("jobs", "-o", "json")) })
	if jobs := decode[v1.JobList](w, r); len(jobs.Items) != 4 || w.recordsInTheCluster() != 0 {
		t.Errorf("%d records are in the cluster, the jobs are %+v", w.recordsInTheCluster(), jobs.Items)
	}
}

// followedInNATS provisions, follows the job from another terminal until it ends
// as the run does, and looks at its history.
func (w *world) followedInNATS(berth func(args ...string) *exec.Cmd, user string, status int) {
	w.Helper()
	run := w.launch(berth("provision", user, "-o", "jsonl"))
	var id string
	w.eventually("the job is in NATS", func() bool {
		r := w.finish(berth("jobs", "--workspace", user, "-o", "name"))
		id = strings.TrimSpace(r.stdout)
		return r.status == 0 && id != ""
	})
	var follower *process
	w.eventually("the job is followed", func() bool { // NATS may not answer in time on a busy machine
		if follower == nil || len(follower.ended) > 0 && follower.stdout.String() == "" {
			follower = w.launch(berth("jobs", id, "--follow"))
		}
		return follower.stdout.String() != ""
	})
	r := run.wait()
	r.mustBe(w, status)
	f := follower.wait()
	f.mustBe(w, status)
	stages, reasons := w.reported(r.stdout)
	w.contains(f.stdout, stages...)
	history := w.fromNATS(func() result { return w.finish(berth("status", user, "--history", "-o", "json")) })
	list := decode[v1.JobList](w, history)
	if len(list.Items) != 1 || list.Items[0].ID != id {
		w.Fatalf("the history is %+v", list)
	}
	w.mustHave(list.Items[0], stages, reasons)
}

// item fails the test unless the named check has this status and these words.
func (w *world) item(r result, name string, status v1.CheckupStatus, words ...string) {
	w.Helper()
	for _, item := range decode[v1.Checkup](w, r).Items {
		if item.Name == name {
			if item.Status != status {
				w.Errorf("%s is %s, want %s: %s", name, item.Status, status, item.Message)
			}
			w.contains(item.Message+"\n"+strings.Join(item.Problems, "\n"), words...)
			return
		}
	}
	w.Errorf("there is no check %s in\n%s", name, r.stdout)
}
