//go:build e2e

package e2e

import (
	"strings"
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
)

// What a user string means, with the cluster asked who the user is; nothing is
// written.
func TestResolve(t *testing.T) {
	w := newWorld(t)
	doc := decode[v1.Resolution](w, w.must(0, "resolve", "alice~dev", "-o", "json"))
	if doc.Identity == nil || doc.Identity.Username != "alice" || doc.Identity.Provider != "kubernetes" {
		t.Errorf("the identity is %+v", doc.Identity)
	}
	if doc.Blueprint == nil || strings.Join(doc.Blueprint.Lineage, " ") != "dev tiny base" {
		t.Fatalf("the blueprint is %+v", doc.Blueprint)
	}
	w.contains(doc.Blueprint.Origins["resources.cpu"], "tiny (", "team.yaml:9)")
	w.contains(doc.Blueprint.Origins["imagePullPolicy"], "default (built in)")
	if doc.ID != w.idOf("alice~dev") {
		t.Errorf("the ID is %s", doc.ID)
	}
	repo := w.configured("identity: {providers: [{kind: kubernetes}]}\n", "resolve", "alice~repo=org/proj")
	if repo.status != 2 {
		t.Errorf("a repository that no provider reads: status %d", repo.status)
	}
	w.contains(repo.stderr, "no configured identity provider reads repositories")
	w.contains(w.must(7, "resolve", "alice~nope").stderr, `blueprint "nope" not found`)
	w.contains(w.must(0, "resolve", "alice~dev").stdout, "Made from:    dev ← tiny ← base", "# ← tiny (")
	if left := w.leftovers(); len(left) > 0 {
		t.Errorf("it wrote %s", left)
	}
}
