package fleet

import (
	"maps"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/release"
)

// What was installed as a whole says Helm's records, and beside one that is guarded, those that
// are not say nothing, in whatever order they are listed.
func TestDeployed(t *testing.T) {
	const id = "alice-2bd806c"
	guarded := func(status string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Labels: map[string]string{"name": id, "status": status, release.LabelGuarded: "pods"}}
	}
	unguarded := func(status string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Labels: map[string]string{"name": id, "status": status}}
	}
	for name, test := range map[string]struct {
		records []metav1.ObjectMeta
		want    bool
	}{
		"one that is":               {[]metav1.ObjectMeta{guarded("deployed")}, true},
		"one that is not":           {[]metav1.ObjectMeta{guarded("pending-install")}, false},
		"of an earlier version":     {[]metav1.ObjectMeta{unguarded("deployed")}, true},
		"a later revision is not":   {[]metav1.ObjectMeta{guarded("deployed"), guarded("failed")}, true},
		"somebody added one":        {[]metav1.ObjectMeta{guarded("pending-install"), unguarded("deployed")}, false},
		"somebody added one broken": {[]metav1.ObjectMeta{guarded("deployed"), unguarded("failed")}, true},
		"neither counts": {[]metav1.ObjectMeta{
			guarded("failed"), guarded("pending-upgrade"),
			unguarded("deployed"), unguarded("deployed"),
		}, false},
		"of another chart": {[]metav1.ObjectMeta{{Labels: map[string]string{
			"name":   "postgres",
			"status": "deployed",
		}}}, false},
	} {
		backwards := slices.Clone(test.records)
		slices.Reverse(backwards)
		for _, records := range [][]metav1.ObjectMeta{test.records, backwards} {
			b := newBelongings(inventory.Reader{}, "dev")
			for _, r := range records {
				b.addRecord(r)
			}
			if got := b.Deployed(); len(got) == 1 != test.want {
				t.Errorf("%s: %v of %v", name, got, slices.Collect(maps.Keys(b.installed)))
			}
		}
	}
}

// A claim is of the workspace whose ID its label has. What can be no ID names none, and one that is
// being deleted is not left.
func TestClaimsOfWorkspaces(t *testing.T) {
	claim := func(id string, change ...func(*metav1.ObjectMeta)) metav1.ObjectMeta {
		meta := metav1.ObjectMeta{Namespace: "dev", Labels: map[string]string{kube.LabelCanonicalID: id}}
		for _, c := range change {
			c(&meta)
		}
		return meta
	}
	ending := func(m *metav1.ObjectMeta) { m.DeletionTimestamp = new(metav1.Now()) }
	for name, test := range map[string]struct {
		claim metav1.ObjectMeta
		want  bool
	}{
		"of a workspace":      {claim("alice-2bd806c"), true},
		"being deleted":       {claim("alice-2bd806c", ending), false},
		"no label":            {claim(""), false},
		"a name":              {claim("alice"), false},
		"what a label allows": {claim("A.b_c"), false},
	} {
		b := newBelongings(inventory.Reader{}, "dev")
		b.addClaim(test.claim)
		if got := len(b.claims) == 1; got != test.want {
			t.Errorf("%s: %v", name, b.claims)
		}
	}
}
