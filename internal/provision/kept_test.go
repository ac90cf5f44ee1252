package provision

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/userstring"
)

// claims are the claims of the model, by their UIDs.
func (m *model) claims() map[string]*unstructured.Unstructured {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := map[string]*unstructured.Unstructured{}
	for name, object := range m.objects {
		if strings.HasSuffix(path.Dir(name), "/persistentvolumeclaims") {
			all[string(object.GetUID())] = object
		}
	}
	return all
}

// one is the only claim that there is.
func (m *model) one(t *testing.T, what string) *unstructured.Unstructured {
	t.Helper()
	all := m.claims()
	if len(all) != 1 {
		t.Fatalf("%s: there are %d claims", what, len(all))
	}
	for _, claim := range all {
		return claim
	}
	return nil
}

// A kept claim is left alone, is used by the next workspace of the same user string, and is deleted with
// that workspace or on its own.
func TestKeptStorage(t *testing.T) {
	dir := modelDir(t)
	for target, user := range map[string]string{"injected": modelInjected, "standalone": "alice~model"} {
		t.Run(target, func(t *testing.T) {
			u, err := userstring.Parse(user)
			if err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) {
				s := pause{id: u.ID(), user: user, blueprints: dir, injected: target == "injected", a: "delete"}
				m := s.prepare(t)
				do := func(what string) {
					t.Helper()
					if err := <-newProcess(m).start(t, what, user, dir); err != nil {
						t.Fatalf("%s: %v", what, err)
					}
				}
				before := m.one(t, "provisioned").GetUID()
				do("keep")
				kept := m.one(t, "kept")
				if kept.GetUID() != before || kept.GetLabels()[kube.LabelKept] != "true" ||
					kept.GetLabels()[kube.LabelCanonicalID] != s.id ||
					userstring.FromAnnotation(kept.GetAnnotations()[kube.AnnotationUserString]) != u.String() {
					t.Errorf("kept is %+v", kept.Object["metadata"])
				}
				if problems := m.problems(s, false); len(problems) != 1 {
					t.Errorf("beside the claim, %q", problems)
				}
				do("provision")
				used := m.one(t, "used again")
				if _, marked := used.GetLabels()[kube.LabelKept]; used.GetUID() != before || marked {
					t.Errorf("used is %+v", used.Object["metadata"])
				}
				if problems := m.problems(s, true); len(problems) > 0 {
					t.Errorf("used again: %q", problems)
				}
				do("keep")
				do("delete")
				if problems := m.problems(s, false); len(problems) > 0 || len(m.claims()) > 0 {
					t.Errorf("deleted: %q", problems)
				}
			})
		})
	}
}

// A claim that is kept for one user string can neither be used nor deleted through another user string with
// the same ID.
func TestKeptStorageOfAnother(t *testing.T) {
	const first, second = "alice~bp7936", "alice~bp7947"
	dir := t.TempDir()
	both := strings.Replace(modelBlueprints, "name: model", "name: bp7936", 1) +
		strings.Replace(strings.TrimPrefix(modelBlueprints, "\nblueprints:\n"), "name: model", "name: bp7947", 1)
	if err := os.WriteFile(filepath.Join(dir, "model.yaml"), []byte(both), 0o600); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		m := newModel(time.Millisecond)
		do := func(what, user string) error { return <-newProcess(m).start(t, what, user, dir) }
		if err := do("provision", first); err != nil {
			t.Fatal(err)
		}
		if err := do("keep", first); err != nil {
			t.Fatal(err)
		}
		version := m.one(t, "kept").GetResourceVersion()
		err := do("provision", second)
		if fault.CodeOf(err) != fault.Conflict || !strings.Contains(err.Error(), first) ||
			!strings.Contains(err.Error(), second) {
			t.Errorf("the other one's provisioning ends with %v", err)
		}
		if err := do("delete", second); err != nil {
			t.Errorf("there is nothing of the other one's to delete, but %v", err)
		}
		if m.one(t, "after the other one").GetResourceVersion() != version {
			t.Error("what is kept has been changed")
		}
		if err := do("provision", first); err != nil {
			t.Errorf("it cannot be used any more: %v", err)
		}
	})
}

// awhile is a minute, by the clock of the test.
func awhile(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, fault.New(fault.DeadlineExceeded, "late"))
	t.Cleanup(cancel)
	return ctx
}

// find is what a deletion finds.
func (m *model) find(t *testing.T, text string) (*Provisioner, *inventory.Target, error) {
	t.Helper()
	p := newProcess(m).provisioner(t, modelDir(t))
	arg, err := inventory.ParseArgument(text)
	if err != nil {
		t.Fatal(err)
	}
	target, err := p.FindToDelete(t.Context(), arg)
	return p, target, err
}

// While the pod is in its grace period, a second deletion does not delete what the first one kept.
func TestKeptStorageWhileThePodGoes(t *testing.T) {
	dir := modelDir(t)
	synctest.Test(t, func(t *testing.T) {
		u, m := modelUser(t, "alice~model"), newModel(time.Millisecond)
		do := func(what string) {
			t.Helper()
			if err := <-newProcess(m).start(t, what, u.String(), dir); err != nil {
				t.Fatal(err)
			}
		}
		do("provision")
		pod := m.objects[modelPods+"/"+u.ID()].DeepCopy()
		do("keep")
		setField(t, pod, time.Now().UTC().Format(time.RFC3339), "metadata", "deletionTimestamp")
		m.mu.Lock()
		m.put(modelPods+"/"+u.ID(), pod)
		m.mu.Unlock()
		p, target, err := m.find(t, "id/"+u.ID())
		if err != nil {
			t.Fatal(err)
		}
		d, err := p.Delete(t.Context(), target, deploy.Removing{}, event.NewStream(u.ID(), time.Now))
		if err != nil || len(d.Storage) != 1 || !d.Storage[0].Kept {
			t.Errorf("%+v, %v", d, err)
		}
		m.one(t, "the pod goes")
	})
}

// A claim that is being deleted cannot be kept: the command fails and deletes nothing.
func TestKeepAClaimThatGoes(t *testing.T) {
	dir := modelDir(t)
	synctest.Test(t, func(t *testing.T) {
		m := newModel(time.Millisecond)
		if err := <-newProcess(m).start(t, "provision", "alice~model", dir); err != nil {
			t.Fatal(err)
		}
		claim := m.one(t, "provisioned").DeepCopy()
		setField(t, claim, time.Now().UTC().Format(time.RFC3339), "metadata", "deletionTimestamp")
		claim.SetFinalizers([]string{"kubernetes.io/pvc-protection"})
		m.mu.Lock()
		m.put("/api/v1/namespaces/dev/persistentvolumeclaims/"+claim.GetName(), claim)
		m.mu.Unlock()
		err := <-newProcess(m).start(t, "keep", "alice~model", dir)
		if fault.CodeOf(err) != fault.Conflict || !strings.Contains(err.Error(), claim.GetName()+" is being deleted") {
			t.Errorf("it ends with %v", err)
		}
		if _, target, err := m.find(t, "alice~model"); err != nil || target.Found.Pod == nil {
			t.Errorf("the workspace is gone: %v", err)
		}
	})
}

// A failed provisioning that used kept storage leaves it kept when it is undone.
func TestUndoKeepsAgain(t *testing.T) {
	dir, broken := modelDir(t), t.TempDir()
	text := strings.Replace(modelBlueprints, "    initScripts",
		"      x: {type: local, path: /more, existingClaim: nowhere}\n    initScripts", 1)
	if err := os.WriteFile(filepath.Join(broken, "model.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		u := modelUser(t, "alice~model")
		m := pause{id: u.ID(), user: u.String(), blueprints: dir, a: "keep"}.prepare(t)
		if err := <-newProcess(m).start(t, "keep", u.String(), dir); err != nil {
			t.Fatal(err)
		}
		p := newProcess(m).provisioner(t, broken)
		p.OnFailure = DeleteOnFailure
		if _, err := p.Provision(awhile(t), u,
			event.NewStream(u.ID(), time.Now)); fault.CodeOf(err) != fault.DeadlineExceeded {
			t.Errorf("the provisioning ends with %v", err)
		}
		if kept := m.one(t, "undone"); kept.GetLabels()[kube.LabelKept] != "true" {
			t.Errorf("it has the labels %v", kept.GetLabels())
		}
		if _, target, err := m.find(t, u.String()); err != nil || len(target.Found.Kept) != 1 {
			t.Errorf("it is not found: %v", err)
		}
	})
}

// Storage that is no longer in the blueprint is named when the workspace is deleted, and is not deleted.
func TestKeptBesideAWorkspace(t *testing.T) {
	dir, without := modelDir(t), t.TempDir()
	text := "blueprints:\n  - {name: model, template: base}\n"
	if err := os.WriteFile(filepath.Join(without, "model.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, user := range []string{"alice~model", modelInjected} {
		synctest.Test(t, func(t *testing.T) {
			s := pause{id: modelUser(t, user).ID(), user: user, blueprints: dir, a: "keep"}
			m := s.prepare(t)
			for _, run := range []struct{ what, dir string }{{"keep", dir}, {"provision", without}} {
				if err := <-newProcess(m).start(t, run.what, user, run.dir); err != nil {
					t.Fatal(err)
				}
			}
			p, target, err := m.find(t, user)
			if err != nil {
				t.Fatal(err)
			}
			d, err := p.Delete(t.Context(), target, deploy.Removing{Wait: true}, event.NewStream(user, time.Now))
			if err != nil || len(d.Storage) != 1 || !d.Storage[0].Kept {
				t.Errorf("%s: %+v, %v", user, d, err)
			}
			m.one(t, "deleted")
		})
	}
}

func modelUser(t *testing.T, text string) userstring.UserString {
	t.Helper()
	u, err := userstring.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func setField(t *testing.T, object *unstructured.Unstructured, value any, path ...string) {
	t.Helper()
	if err := unstructured.SetNestedField(object.Object, value, path...); err != nil {
		t.Fatal(err)
	}
}
