//go:build e2e

package e2e

import (
	"regexp"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/userstring"
)

// claims are those of the namespace, by their names.
func (w *world) claims() map[string]corev1.PersistentVolumeClaim {
	w.Helper()
	list, err := w.CoreV1().PersistentVolumeClaims(w.namespace).List(w.Context(), metav1.ListOptions{})
	if err != nil {
		w.Fatal(err)
	}
	all := map[string]corev1.PersistentVolumeClaim{}
	for _, claim := range list.Items {
		all[claim.Name] = claim
	}
	return all
}

// Anyone who deletes a workspace at a terminal is asked about the storage, and told how much
// is in it. Of a workspace whose files are in none it is said that they are lost; so is it
// before a stop and a restart.
func TestDeleteAsksAboutStorage(t *testing.T) {
	w := newWorld(t)
	w.must(0, "provision", "-f", w.teamFile("alice~dev\nalice~plain\n"))
	w.must(0, "exec", "alice~dev", "--", "sh", "-c", "dd if=/dev/zero of=/home/dev/big bs=1M count=3 && sync")
	measured := regexp.MustCompile(`home +[0-9]+[MG]i +3(\.[0-9])?Mi +pvc-`)
	w.eventually("it says how much is in the storage, which a busy node does not tell in time", func() bool {
		out, status := w.terminal(w.command("delete", "alice~dev"), "n\n")
		text := ansi.Strip(out)
		if !strings.Contains(text, "Delete alice~dev and the storage? [y/N]") || status != 130 {
			t.Fatalf("status %d:\n%s", status, text)
		}
		return measured.MatchString(text)
	})
	if pod := w.pod(w.idOf("alice~dev")); pod == nil || pod.DeletionTimestamp != nil {
		t.Fatal("it is deleted without a yes")
	}
	for verb, says := range map[string]string{
		"stop":    "all files in it are lost Stop? [y/N]",
		"restart": "all files in it are lost Restart? [y/N]",
		"delete":  "all files in it are lost",
	} {
		out, status := w.terminal(w.command(verb, "alice~plain"), "n\n")
		if text := strings.Join(strings.Fields(ansi.Strip(out)), " "); !strings.Contains(text, says) || status != 130 {
			t.Errorf("%s without a home, status %d:\n%s", verb, status, text)
		}
	}
	if pod := w.pod(w.idOf("alice~plain")); pod == nil || pod.DeletionTimestamp != nil {
		t.Fatal("it has ended without a yes")
	}
	if r := w.must(0, "stop", "alice~plain"); strings.Index(r.stderr, "alice~plain has no home directory") != 0 {
		t.Errorf("what is lost is not said first:\n%s", r.stderr)
	}
	w.must(0, "start", "alice~plain")
	out, status := w.terminal(w.command("stop", "alice~dev"), "")
	if text := ansi.Strip(out); strings.Contains(text, "[y/N]") || status != 0 {
		t.Errorf("its home is in a storage, status %d:\n%s", status, text)
	}
	w.must(0, "start", "alice~dev")
	out, status = w.terminal(w.command("delete", "alice~plain"), "y\n")
	if status != 0 {
		t.Errorf("status %d:\n%s", status, ansi.Strip(out))
	}
	out, status = w.terminal(w.command("delete", "alice~dev"), "y\n")
	if text := ansi.Strip(out); !strings.Contains(text, "storage home (") || status != 0 {
		t.Errorf("status %d:\n%s", status, text)
	}
	w.nothingIsLeft()
}

// What is kept is used again by the same user string, by nobody else, and is deleted by
// a second deletion.
func TestKeepStorage(t *testing.T) {
	w := newWorld(t)
	w.must(0, "provision", "alice~dev")
	id := w.idOf("alice~dev")
	w.must(0, "exec", "alice~dev", "--", "sh", "-c", "echo kept >/home/dev/note; sync")

	r := w.must(0, "delete", "alice~dev", "--keep-storage", "-o", "json")
	d := decode[v1.Deletion](w, r)
	if len(d.Storage) != 1 || d.Storage[0].Name != "home" || !d.Storage[0].Kept || d.Storage[0].Capacity == "" {
		t.Fatalf("%s", r.stdout)
	}
	claim, there := w.claims()[d.Storage[0].Claim]
	if !there || claim.Labels[kube.LabelKept] != "true" || claim.Labels[kube.LabelCanonicalID] != id ||
		userstring.FromAnnotation(claim.Annotations[kube.AnnotationUserString]) != "alice~dev" {
		t.Fatalf("%+v", claim.ObjectMeta)
	}
	if left := w.leftovers(); len(left) != 1 {
		t.Errorf("left beside it: %q", left)
	}
	w.must(7, "status", "alice~dev")

	r = w.must(0, "provision", "alice~dev")
	w.contains(r.stderr, "storage that was kept is used again: home")
	if out := w.must(0, "exec", "alice~dev", "--", "cat", "/home/dev/note").stdout; out != "kept\n" {
		t.Errorf("the note is %q", out)
	}
	if _, marked := w.claims()[claim.Name].Labels[kube.LabelKept]; marked {
		t.Error("it is marked as kept although it is used")
	}
	r = w.must(0, "delete", "alice~dev", "--keep-storage")
	w.contains(r.stderr, "storage home (", ") kept", "berth provision alice~dev", "berth delete alice~dev")

	// Another user string of that ID: the mark says whose it is.
	w.kubectl("annotate", "pvc", claim.Name, "--overwrite", kube.AnnotationUserString+"="+
		userstring.ToAnnotation("alice~bp7947"))
	w.contains(w.must(6, "provision", "alice~dev").stderr, "CONFLICT", "alice~bp7947", "alice~dev", id)
	w.must(7, "delete", "alice~dev") // it has left nothing
	if _, there := w.claims()[claim.Name]; !there {
		t.Fatal("another one's storage is deleted")
	}
	r = w.must(0, "delete", "id/"+id)
	w.contains(r.stderr, "storage home (")
	w.nothingIsLeft()
}

// The same of a workspace in a workload.
func TestKeepStorageOfAnInjection(t *testing.T) {
	w := newWorld(t)
	tg := w.workload("deployment", 1, nil)
	user := tg.user("data")
	w.must(0, "provision", user)
	w.must(0, "exec", user, "--", "sh", "-c", "echo kept >/data/note; sync")
	d := decode[v1.Deletion](w, w.must(0, "delete", user, "--keep-storage", "-o", "json"))
	if len(d.Storage) != 1 || d.Storage[0].Name != "data" || !d.Storage[0].Kept {
		t.Fatalf("%+v", d)
	}
	w.must(7, "status", user)
	w.contains(w.must(0, "provision", user).stderr, "storage that was kept is used again: data")
	if out := w.must(0, "exec", user, "--", "cat", "/data/note").stdout; out != "kept\n" {
		t.Errorf("the note is %q", out)
	}
	w.must(0, "delete", user, "--keep-storage")
	w.contains(w.must(0, "delete", user).stderr, "storage data (")
	w.nothingIsLeft()
}
