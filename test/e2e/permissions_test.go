//go:build e2e

package e2e

import (
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/rbac"
)

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
	text := w.as(grant{w.namespace, without(rbac.Developer(), rbac.Access{Verb: "create", Resource: "services"})}).
		must(0, "doctor").stdout
	w.contains(text, "▲ permissions", "missing: create services", "kubectl auth can-i create services --namespace "+
		w.namespace)
	text = w.as(w.role(rbac.Developer()), clusterRole(rbac.Named("doctor"))).must(3, "doctor").stdout
	w.contains(text, "✘ quotas", "small: 0 of 0 pods in use", "default storage class standard")
	if left := w.leftovers(); len(left) != 0 {
		t.Errorf("something was made: %s", left)
	}
}

// Without a cluster, what is local is looked at all the same, and nothing hangs.
func TestDoctorWithoutCluster(t *testing.T) {
	w := newWorld(t)
	text := w.must(3, "doctor", "--server", "https://192.0.2.1:1", "--timeout", "1s").stdout
	w.contains(text, "✔ configuration", "✔ blueprints", "✘ cluster", "■ permissions")
	if strings.Count(text, "✘") != 1 {
		t.Errorf("more than the cluster failed:\n%s", text)
	}
}
