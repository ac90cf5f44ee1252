package provision

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/identity"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/userstring"
)

// noRepositories has no blueprints of users.
type noRepositories struct{}

func (noRepositories) Custom(context.Context, userstring.UserString) (*blueprint.Source, error) {
	return nil, identity.ErrNotResponsible
}

const modelBlueprints = `
blueprints:
  - name: model
    template: base
    storages:
      data:
        type: local
        path: /data
        claimSpec: {accessModes: [ReadWriteMany], resources: {requests: {storage: 8Mi}}}
    initScripts: [{name: hello, script: "true"}]
`

const modelInjected = "alice~model+workload=daemonset/web+ns=dev"

func modelDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "model.yaml"), []byte(modelBlueprints), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// webSet is the workload of the model.
const webSet = `{"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "web"}, "spec": {
	"selector": {"matchLabels": {"app": "web"}},
	"template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "web", "image": "nginx"}]}}}}`

// Two runs work on one workspace. The first is suspended at each of its requests in turn, until its lock has
// expired and the second run has ended; then it continues. Whatever the two runs do, in the end the
// workspace is complete or does not exist, and is as the second run left it. Only if the first run succeeds
// may it be as that one wants; otherwise the first run fails with CONFLICT.
func TestSuspendedRuns(t *testing.T) {
	dir := modelDir(t)
	for target, user := range map[string]string{
		"injected":   modelInjected,
		"standalone": "alice~model",
	} {
		u, err := userstring.Parse(user)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range []string{"provision", "delete", "keep"} {
			for _, b := range []string{"provision", "delete", "keep"} {
				t.Run(target+" "+a+" and "+b, func(t *testing.T) {
					s := pause{id: u.ID(), user: user, blueprints: dir, a: a, b: b, injected: target == "injected"}
					requests := s.count(t)
					t.Logf("%s makes %d requests", a, requests)
					for at := range requests {
						for i, way := range pauses() {
							if testing.Short() && (at+i)%len(pauses()) != 0 {
								continue // each request in one way
							}
							s.at, s.done, s.lag, s.breaks = at+1, way.done, way.lag, way.breaks
							synctest.Test(t, s.try)
						}
					}
				})
			}
		}
	}
}

// pauses are the ways in which a run is suspended at a request.
func pauses() []pause {
	const late = 2 * time.Second
	return []pause{{}, {done: true, lag: late}, {lag: late}, {done: true}, {breaks: true, lag: late}}
}

// pause is one case.
type pause struct {
	id, user, blueprints string
	injected             bool
	a, b                 string
	at                   int
	done, breaks         bool
	lag                  time.Duration
}

func (s pause) String() string {
	side := "before"
	if s.done {
		side = "after"
	}
	return fmt.Sprintf("suspended %s request %d, noticed %s later, others broken: %t", side, s.at, s.lag, s.breaks)
}

// prepare makes the cluster on which the first run begins.
func (s pause) prepare(t *testing.T) *model {
	t.Helper()
	m := newModel(5 * time.Millisecond)
	m.mu.Lock()
	if _, err := m.create(daemonSets, []byte(webSet), false); err != nil {
		t.Fatal(err)
	}
	m.mu.Unlock()
	if s.a != "provision" {
		if err := <-newProcess(m).start(t, "provision", s.user, s.blueprints); err != nil {
			t.Fatal(err)
		}
	}
	m.writes = nil
	return m
}

// count is how many requests the first run makes undisturbed.
func (s pause) count(t *testing.T) (n int) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		m := s.prepare(t)
		p := newProcess(m)
		if err := <-p.start(t, s.a, s.user, s.blueprints); err != nil {
			t.Fatal(err)
		}
		if problems := m.problems(s, s.a == "provision"); len(problems) > 0 {
			t.Fatalf("undisturbed: %s", strings.Join(problems, "; "))
		}
		n = p.requests
	})
	return n
}

func (s pause) try(t *testing.T) {
	m := s.prepare(t)
	p := newProcess(m)
	p.at, p.done, p.lag, p.breaks = s.at, s.done, s.lag, s.breaks
	first := p.start(t, s.a, s.user, s.blueprints)
	select {
	case <-p.suspended:
	case err := <-first: // in another order it had fewer requests
		if err != nil {
			t.Errorf("%s: it ended before with %v", s, err)
		}
		return
	}
	time.Sleep(20 * time.Second)
	other := newProcess(m)
	if err := <-other.start(t, s.b, s.user, s.blueprints); err != nil {
		t.Errorf("%s: the second run ends with %v", s, err)
	}
	second := len(m.writes)
	p.resume()
	err := <-first
	there, keeps := s.b == "provision", s.breaks && fault.CodeOf(err) == fault.Unavailable
	switch {
	case err == nil && s.a != s.b:
		there = len(m.problems(s, true)) == 0 // either is as it was reported
	case keeps: // with the lock held, what it has begun is kept
		time.Sleep(20 * time.Second)
	case err != nil && fault.CodeOf(err) != fault.Conflict:
		t.Errorf("%s: the first run ends with %s %v", s, fault.CodeOf(err), err)
	}
	if claims := m.claims(); other.kept != "" && !p.foundKept && len(claims) != 1 {
		t.Errorf("%s: the second run said that %s, but there are %d claims", s, other.kept, len(claims))
	}
	if problems := m.problems(s, there); len(problems) > 0 && !keeps {
		t.Errorf("%s: the first run ends with %v, but %s\nwritten by then: %q\nand after that: %q", s, err,
			strings.Join(problems, "; "), m.writes[:second], m.writes[second:])
	}
	if err := <-newProcess(m).start(t, "delete", s.user, s.blueprints); err != nil {
		t.Errorf("%s: the deletion that follows ends with %v", s, err)
	}
	s.a, s.b = "provision", "delete"
	if problems := m.problems(s, false); len(problems) > 0 {
		t.Errorf("%s: after a deletion, %s", s, strings.Join(problems, "; "))
	}
}

// problems say what is not as it has to be with a workspace that is there, or not.
func (m *model) problems(s pause, there bool) (problems []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	say := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	left := map[string]int{} // by kind
	for _, name := range slices.Sorted(maps.Keys(m.objects)) {
		o := m.objects[name]
		if o.GetKind() != "Lease" && (o.GetLabels()[kube.LabelCanonicalID] == s.id ||
			strings.Contains(o.GetName(), s.id)) {
			left[o.GetKind()]++
			kept := o.GetLabels()[kube.LabelKept] != ""
			if there && kept {
				say("%s is marked as kept", o.GetName())
			}
			if mayStay := kept && (s.a == "keep" || s.b == "keep"); !there && !mayStay {
				say("%s is left", path.Base(path.Dir(name))+"/"+o.GetName())
			}
		}
	}
	set := m.objects[daemonSets+"/web"]
	text, _ := json.Marshal(set.Object["spec"])
	injected, annotated := strings.Contains(string(text), s.id), set.GetAnnotations()[kube.AnnotationInjection] != ""
	if want := there && s.injected; injected != want || annotated != want {
		say("the template has it: %t, the annotation: %t", injected, annotated)
	}
	if !there && set.GetAnnotations()[kube.AnnotationLock] != "" {
		say("the workload is still marked")
	}
	want := map[string]int{"Pod": 1, "ConfigMap": 2, "PersistentVolumeClaim": 1}
	if !s.injected {
		want["Secret"] = 1
	}
	if there && !maps.Equal(want, left) {
		say("there are %v", left)
	}
	for name, pod := range m.objects {
		if path.Dir(name) == modelPods && there && strings.Contains(fmt.Sprint(pod.Object), s.id) {
			if phase, _, _ := unstructured.NestedString(pod.Object, "status", "phase"); phase != "Running" {
				say("%s does not run", pod.GetName())
			}
		}
	}
	return problems
}

// Missing objects of an injected workspace are created again, whether or not its pod has noticed that they
// are missing, and the workload is not rolled out again.
func TestHealsAnInjection(t *testing.T) {
	dir := modelDir(t)
	u, err := userstring.Parse(modelInjected)
	if err != nil {
		t.Fatal(err)
	}
	for _, missing := range []string{"configmaps/" + u.ID() + "-config", "persistentvolumeclaims/pvc-" + u.ID() +
		"-data"} {
		for _, restarted := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				s := pause{id: u.ID(), user: modelInjected, blueprints: dir, injected: true, a: "delete"}
				m := s.prepare(t)
				m.mu.Lock()
				before := m.objects[daemonSets+"/web"].GetGeneration()
				m.forget("/api/v1/namespaces/dev/" + missing)
				if restarted { // the controller makes another pod, which waits
					pod := m.objects[fmt.Sprintf("%s/web-%d", modelPods, before)].DeepCopy()
					delete(pod.Object, "status")
					m.put(modelPods+"/"+pod.GetName(), pod)
				}
				m.mu.Unlock()
				if err := <-newProcess(m).start(t, "provision", s.user, dir); err != nil {
					t.Errorf("without %s, restarted %t: %v", missing, restarted, err)
				}
				if problems := m.problems(s, true); len(problems) > 0 {
					t.Errorf("without %s, restarted %t: %s", missing, restarted, strings.Join(problems, "; "))
				}
				if after := m.objects[daemonSets+"/web"].GetGeneration(); after != before {
					t.Errorf("without %s: it is rolled out again", missing)
				}
			})
		}
	}
}

// If two user strings have the same ID, the second can neither provision over nor delete the workspace of
// the first.
func TestTwoUserStringsWithOneID(t *testing.T) {
	const first, second = "alice~bp7936", "alice~bp7947"
	dir := t.TempDir()
	blueprints := "blueprints:\n  - {name: bp7936, template: base}\n  - {name: bp7947, template: base}\n"
	if err := os.WriteFile(filepath.Join(dir, "model.yaml"), []byte(blueprints), 0o600); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		m := newModel(time.Millisecond)
		if err := <-newProcess(m).start(t, "provision", first, dir); err != nil {
			t.Fatal(err)
		}
		m.writes = nil
		for _, what := range []string{"provision", "delete"} {
			err := <-newProcess(m).start(t, what, second, dir)
			if fault.CodeOf(err) != fault.Conflict || !strings.Contains(err.Error(), first) ||
				!strings.Contains(err.Error(), second) {
				t.Errorf("%s %s ends with %v", what, second, err)
			}
		}
		if writes := slices.DeleteFunc(m.writes,
			func(w string) bool { return strings.Contains(w, "selfsubject") }); len(writes) > 0 {
			t.Errorf("written was %q", writes)
		}
	})
}
