//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/berthdev/berth/api/v1"
)

const identityUsers = `users:
- {username: alice, organization: acme, uid: 4001, roles: [dev], blueprints: [dev]}
- {username: bob, status: locked}
- {username: carol, status: invalid}
`

// A user who may not have a workspace gets none: nothing is written, and scripts
// can see why.
func TestIdentityRefuses(t *testing.T) {
	w := newWorld(t)
	_, err := w.CoreV1().ConfigMaps(w.namespace).Create(t.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "users"}, Data: map[string]string{"users.yaml": identityUsers},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "users.yaml")
	if err := os.WriteFile(file, []byte(identityUsers), 0o600); err != nil {
		t.Fatal(err)
	}
	before := len(w.leftovers())
	for _, provider := range []string{"{kind: file, path: " + file + "}", "{kind: configmap, name: users}"} {
		for _, test := range []struct {
			user, reason, code string
			status             int
		}{
			{"nobody", "USER_UNKNOWN", "UNAUTHENTICATED", 4},
			{"bob", "USER_LOCKED", "PERMISSION_DENIED", 4},
			{"carol", "USER_INVALID", "PERMISSION_DENIED", 4},
			{"alice", "BLUEPRINT_NOT_ALLOWED", "PERMISSION_DENIED", 4}, // of the default one
		} {
			for _, verb := range []string{"provision", "resolve"} {
				r := w.configured("identity: {providers: ["+provider+"]}\n", verb, test.user, "-o", "json")
				r.mustBe(w, test.status)
				document := decode[v1.Error](w, r)
				if document.Reason != test.reason || document.Code != test.code || document.Hint == "" {
					t.Errorf("%s %s: %+v", verb, test.user, document)
				}
			}
		}
		r := w.configured("identity: {providers: ["+provider+"]}\n", "resolve", "alice~dev", "-o", "json")
		r.mustBe(w, 0)
		if got := decode[v1.Resolution](w, r).Identity; got.UID != 4001 || got.Organization != "acme" ||
			got.Status != "active" {
			t.Errorf("alice is %+v", got)
		}
	}
	for _, provider := range []string{
		"{kind: file, path: none.yaml}", "{kind: configmap, name: none}",
		`{kind: github, url: "http://127.0.0.1:1/"}`,
	} {
		r := w.configured("identity: {providers: ["+provider+", {kind: kubernetes}]}\n", "provision", "alice~dev", "-o",
			"json")
		r.mustBe(w, 8)
		if document := decode[v1.Error](w, r); document.Reason != "PROVIDER_UNAVAILABLE" ||
			document.Code != "UNAVAILABLE" {
			t.Errorf("%s: %+v", provider, document)
		}
	}
	if left := w.leftovers(); len(left) != before {
		t.Errorf("it wrote %s", left)
	}
}

// A user of a list gets a workspace that carries what the list says.
func TestIdentityOfAFile(t *testing.T) {
	w := newWorld(t)
	file := filepath.Join(t.TempDir(), "users.yaml")
	if err := os.WriteFile(file, []byte(identityUsers), 0o600); err != nil {
		t.Fatal(err)
	}
	w.configured("identity: {providers: [{kind: file, path: "+file+"}]}\n", "provision", "alice~dev").mustBe(w, 0)
	pod := w.pod(w.idOf("alice~dev"))
	if pod == nil || pod.Labels["k8shell.io/organization"] != "acme" ||
		pod.Annotations["k8shell.io/identity"] != "file" {
		t.Errorf("the pod is %+v", pod)
	}
}
