package provider

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/identity"
	"github.com/berthdev/berth/internal/userstring"
)

const users = `users:
- username: alice
  uid: 4001
  gid: 0
  fullname: Alice Liddell
  email: alice@example.com
  organization: wonderland
  roles: [admin, dev]
  blueprints: [dev]
  sudo: true
  customBlueprints:
    mine: {template: dev, image: !cel "user.username", env: {WHO: !cel "user.username"}}
- username: bob
  uid:
  status: locked
- username: carol
  blueprints: []
`

func listed(t *testing.T, text string) *userList {
	t.Helper()
	path := filepath.Join(t.TempDir(), "users.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return fileList(path)
}

func TestListed(t *testing.T) {
	client := fake.NewClientset(&corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "berth", Name: "users"}, Data: map[string]string{"users.yaml": users},
	})
	for kind, provider := range map[string]*userList{
		"file":      listed(t, users),
		"configmap": configMapList(client, "berth", "users", "users.yaml"),
	} {
		alice, err := provider.Resolve(t.Context(), "alice")
		if err != nil {
			t.Fatal(err)
		}
		want := identity.User{
			Username: "alice", UID: 4001, GID: 0, Fullname: "Alice Liddell", Email: "alice@example.com",
			Organization: "wonderland",
			Roles:        []string{"admin", "dev"}, Blueprints: []string{"dev"}, Sudo: true, Status: identity.Active,
			Provider: kind,
		}
		if diff := cmp.Diff(want, alice); diff != "" {
			t.Errorf("%s: %s", kind, diff)
		}
		bob, _ := provider.Resolve(t.Context(), "bob")
		if bob.Status != identity.Locked || bob.UID != 1000 || bob.GID != 1000 || bob.MayUse("dev") != nil {
			t.Errorf("%s: %+v", kind, bob)
		}
		if carol, _ := provider.Resolve(t.Context(), "carol"); carol.MayUse("dev") == nil {
			t.Errorf("%s: an empty list allows nothing: %+v", kind, carol)
		}
		if _, err := provider.Resolve(t.Context(), "dave"); fault.ReasonOf(err) != identity.ReasonUnknown {
			t.Errorf("%s: %v", kind, err)
		}
		u, _ := userstring.Parse("alice~mine")
		custom, err := provider.Custom(t.Context(), u)
		if err != nil || !strings.Contains(string(custom.Text), "!cel") || !strings.Contains(custom.Name, ":12") {
			t.Errorf("%s: %+v, %v", kind, custom, err)
		}
		if u, _ = userstring.Parse("bob~mine"); kind != "" {
			if _, err := provider.Custom(t.Context(),
				u); err != identity.ErrNotResponsible { //nolint:errorlint // the value itself
				t.Errorf("%s: bob has none: %v", kind, err)
			}
		}
	}
}

// A missing list is not a statement about any user.
func TestListedNotThere(t *testing.T) {
	client := fake.NewClientset(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "berth", Name: "other"}})
	for name, provider := range map[string]*userList{
		"file":      fileList(filepath.Join(t.TempDir(), "none.yaml")),
		"configmap": configMapList(client, "berth", "users", "users.yaml"),
		"key":       configMapList(client, "berth", "other", "users.yaml"),
	} {
		_, err := identity.Chain{{Name: name, Users: provider}}.Resolve(t.Context(), "alice")
		if fault.CodeOf(err) != fault.Unavailable || fault.ReasonOf(err) != identity.ReasonUnavailable ||
			!strings.Contains(err.Error(), "provider "+name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDocumentProblemsAreReportedTogether(t *testing.T) {
	_, err := parseDocument("u.yaml", "file", []byte(`users:
- username: Alice
  uid: many
- username: bob
  colour: red
  status: gone
- username: bob
  uid: -1
  customBlueprints: {dev: [a]}
- {}
group: x
`))
	f := fault.From(err)
	for _, want := range []string{
		`u.yaml:3:8: expected an integer, found a string`,
		`u.yaml:5:3: unknown field "colour"`,
		`u.yaml:6:11: status "gone": must be one of active, locked, invalid`,
		`u.yaml:7:13: duplicate user "bob" (first on line 4)`,
		`u.yaml:8:8: uid -1 is out of range`,
		`u.yaml:9:27: expected a mapping, found a list`,
		`u.yaml:10:3: invalid username ""`,
		`u.yaml:11:1: unknown field "group"`,
	} {
		if !strings.Contains(strings.Join(f.Problems, "\n"), want) {
			t.Errorf("missing %q in\n%s", want, strings.Join(f.Problems, "\n"))
		}
	}
	if f.Code != fault.InvalidArgument {
		t.Error(err)
	}
}

func FuzzDocument(f *testing.F) {
	f.Add(users)
	f.Add("users: &a [*a]")
	f.Add("users:\n- <<: {username: x}\n  customBlueprints: {a: {b: &x [1], c: *x}}")
	f.Fuzz(func(t *testing.T, text string) {
		records, err := parseDocument("f", "file", []byte(text))
		if err != nil && fault.CodeOf(err) != fault.InvalidArgument {
			t.Error(err)
		}
		for name, r := range records {
			if u, err := userstring.Parse(userstring.Owner(name)); name == "" || r.user.Username != name ||
				err != nil ||
				u.User != name {
				t.Errorf("%q: %+v", name, r)
			}
		}
	})
}
