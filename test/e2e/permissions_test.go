//go:build e2e

package e2e

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/rbac"
)

// The Roles of the commands are enough for them, together and each for itself.
func TestRolesSuffice(t *testing.T) {
	w := newWorld(t)
	role := func(name string) { w.allow(rbac.Named(name).PolicyRules()) }
	role(rbac.Provision)
	id := decode[v1.Workspace](w, w.must(0, "provision", "alice~data", "-o", "json")).ID
	w.must(3, "provision", "alice~crashing")
	role("status")
	w.contains(w.must(0, "status").stdout, id)
	w.must(0, "status", "alice~data")
	watching := w.start("status", "--watch", "-o", "jsonl")
	w.eventually("the watch tells of it", 30*time.Second, func() bool { return strings.Contains(watching.stdout.String(), id) })
	watching.signal(os.Interrupt)
	watching.wait(10*time.Second).mustBe(w, 130)
	role("exec")
	w.contains(w.must(0, "exec", "alice~data", "--", "echo", "hello").stdout, "hello")
	role("logs")
	w.contains(w.must(0, "logs", "alice~crashing").stdout, "nodenv")
	role("diagnose")
	d := decode[v1.Diagnosis](w, w.must(0, "diagnose", "alice~crashing", "-o", "json"))
	if len(d.Unread) != 0 || d.Logs == nil {
		t.Errorf("%+v", d)
	}
	role(rbac.Delete)
	w.must(0, "delete", "alice~data")
	w.must(0, "delete", "alice~crashing")
	if left := w.leftovers(); len(left) != 0 {
		t.Errorf("left: %s", left)
	}
}

// A diagnosis is made without what may not be read, and says so.
func TestDiagnoseWithLess(t *testing.T) {
	w := newWorld(t)
	w.must(3, "provision", "alice~crashing")
	w.allow([]rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"list", "get"}}})
	r := w.must(0, "diagnose", "alice~crashing", "-o", "json")
	d := decode[v1.Diagnosis](w, r)
	for _, unread := range []string{"list events in namespace " + w.namespace, "get pods/log in namespace " + w.namespace} {
		if !slices.Contains(d.Unread, unread) {
			t.Errorf("%q is not in %q", unread, d.Unread)
		}
	}
	w.contains(w.must(0, "diagnose", "alice~crashing").stdout, "may not read: list events")
}

// Each permission of the Role is necessary: without it, it is named, and nothing
// is made. What the table calls optional is.
func TestEachPermissionOfProvision(t *testing.T) {
	w := newWorld(t)
	command := rbac.Named(rbac.Provision)
	made := []string{"configmaps", "services", "persistentvolumeclaims"}
	for _, a := range command.All() {
		w.allow(without(command, a))
		needed := slices.Contains(command.Needs(made...), a)
		status := 4
		if !needed {
			status = 0
		}
		r := w.must(status, "provision", "alice~data")
		if needed {
			w.contains(r.stderr, a.String(), "in namespace "+w.namespace, "kubectl auth can-i "+a.String())
			if left := w.leftovers(); len(left) != 0 {
				t.Fatalf("without %s: left is %s", a, left)
			}
			continue
		}
		w.allow(rbac.Developer().PolicyRules())
		w.must(0, "delete", "alice~data")
	}
	// All that are missing are told at once.
	w.allow([]rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"list"}}})
	r := w.must(4, "provision", "alice~data")
	for _, a := range command.Needs(made...) {
		if a.String() != "list pods" {
			w.contains(r.stderr, "- "+a.String()+" in namespace "+w.namespace)
		}
	}
}

// Nothing is removed by halves for lack of a permission.
func TestEachPermissionOfDelete(t *testing.T) {
	w := newWorld(t)
	w.must(0, "provision", "alice~data")
	before := w.leftovers()
	command := rbac.Named(rbac.Delete)
	for _, a := range command.Needs("configmaps", "services", "persistentvolumeclaims") {
		if a == (rbac.Access{Verb: "list", Resource: "pods"}) || a == (rbac.Access{Verb: "list", Resource: "secrets"}) {
			continue // without these it is not found
		}
		w.allow(without(command, a))
		w.contains(w.must(4, "delete", "alice~data").stderr, a.String(), "in namespace "+w.namespace)
		if after := w.leftovers(); !slices.Equal(before, after) {
			t.Fatalf("without %s: %s became %s", a, before, after)
		}
	}
	w.allow(command.PolicyRules())
	w.must(0, "delete", "alice~data")
}

// without is a command's Role without one verb on one resource.
func without(c rbac.Command, a rbac.Access) (rules []rbacv1.PolicyRule) {
	for _, r := range c.PolicyRules() {
		if r.Resources[0] == a.Resource && r.APIGroups[0] == a.Group {
			r.Verbs = slices.DeleteFunc(slices.Clone(r.Verbs), func(verb string) bool { return verb == a.Verb })
		}
		if len(r.Verbs) > 0 {
			rules = append(rules, r)
		}
	}
	return rules
}

func TestDoctor(t *testing.T) {
	w := newWorld(t)
	checkup := decode[v1.Checkup](w, w.must(0, "doctor", "-o", "json"))
	status := map[string]v1.CheckupStatus{}
	for _, item := range checkup.Items {
		status[item.Name] = item.Status
	}
	for name, want := range map[string]v1.CheckupStatus{
		"cluster": v1.CheckupOK, "clock": v1.CheckupOK, "permissions": v1.CheckupOK, "configuration": v1.CheckupOK,
		"nodes": v1.CheckupSkipped, "storage": v1.CheckupSkipped,
	} {
		if status[name] != want {
			t.Errorf("%s is %s, want %s", name, status[name], want)
		}
	}
	w.limitPods("0")
	w.allow(without(rbac.Developer(), rbac.Access{Verb: "create", Resource: "services"}))
	text := w.must(0, "doctor").stdout
	w.contains(text, "▲ permissions", "missing: create services", "kubectl auth can-i create services --namespace "+w.namespace)
	text = w.unlimited().must(3, "doctor").stdout
	w.contains(text, "✘ quotas", "small: 0 of 0 pods in use", "default storage class standard")
	if left := w.leftovers(); len(left) != 0 {
		t.Errorf("something was made: %s", left)
	}
}

// Without a cluster, what is local is looked at all the same, and nothing hangs.
func TestDoctorWithoutCluster(t *testing.T) {
	w := newWorld(t)
	began := time.Now()
	text := w.must(3, "doctor", "--server", "https://192.0.2.1:1", "--timeout", "1s").stdout
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %s", took)
	}
	w.contains(text, "✔ configuration", "✔ blueprints", "✘ cluster", "■ permissions")
	if strings.Count(text, "✘") != 1 {
		t.Errorf("more than the cluster failed:\n%s", text)
	}
}
