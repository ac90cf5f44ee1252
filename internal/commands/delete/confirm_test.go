package delete

import (
	"strings"
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/commands/batch"
	"github.com/berthdev/berth/internal/provision"
	"github.com/berthdev/berth/internal/terminal/style"
)

func TestQuestion(t *testing.T) {
	one, three := []batch.Workspace{{Typed: "alice~dev", ID: "alice-1"}},
		[]batch.Workspace{{Typed: "alice~dev"}, {Typed: "bob"}, {Typed: "id/x"}}
	for want, test := range map[string]struct {
		o        Options
		removals []batch.Workspace
		storage  bool
	}{
		"Delete alice~dev and the storage?": {
			Options{Selection: batch.Selection{Args: []string{"alice~dev"}}},
			one,
			true,
		},
		"Delete 3 workspaces and the storage?": {Options{Selection: batch.Selection{Args: []string{
			"alice~dev", "bob",
			"id/x",
		}}}, three, true},
		"Delete 3 workspaces of alice and the storage?": {Options{Selection: batch.Selection{
			ByOwner: true,
			Owner:   "alice",
		}}, three, true},
		"Delete 1 workspace of alice?": {Options{Selection: batch.Selection{
			ByOwner: true,
			Owner:   "alice",
		}}, []batch.Workspace{{ID: "alice-1"}}, false},
		"Delete 3 workspaces of alice and keep any storage?": {Options{Selection: batch.Selection{
			ByOwner: true,
			Owner:   "alice",
		}, KeepStorage: true}, three, false},
	} {
		if got := test.o.question(test.removals, test.storage); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestListing(t *testing.T) {
	used := int64(3 << 20)
	all := []stored{
		{"alice-1", provision.Storage{DeletedStorage: v1.DeletedStorage{
			Name: "home", Claim: "pvc-alice-1-home",
			Capacity: "20Gi",
		}, Used: &used}},
		{"bob-2", provision.Storage{DeletedStorage: v1.DeletedStorage{Name: "da\x1bta", Claim: "pvc-bob-2-data"}}},
	}
	page := style.Page{Styles: style.New(style.NoColour, true), Width: 100}
	for many, want := range map[bool]string{
		true: `WORKSPACE   STORAGE   CAPACITY   USED   CLAIM
alice-1     home      20Gi       3Mi    pvc-alice-1-home
bob-2       daa       -          -      pvc-bob-2-data`,
		false: `STORAGE   CAPACITY   USED   CLAIM
home      20Gi       3Mi    pvc-alice-1-home
daa       -          -      pvc-bob-2-data`,
	} {
		lines, err := listing{all, many}.Text(page)
		if got := strings.Join(lines, "\n"); err != nil || got != want {
			t.Errorf("%v\n%s", err, got)
		}
	}
}
