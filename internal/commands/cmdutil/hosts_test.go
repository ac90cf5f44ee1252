package cmdutil

import (
	"slices"
	"testing"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/sshconfig"
)

// What has been made is there, whether it runs or not.
func TestMovesOf(t *testing.T) {
	w := func(id string) *v1.Workspace { return &v1.Workspace{ID: id, Namespace: "team"} }
	made := &v1.Workspace{ID: "a", Namespace: "team", CreatedAt: time.Unix(1, 0)}
	came := func(id string) sshconfig.Move { return sshconfig.Move{Namespace: "team", ID: id} }
	gone := func(id string) sshconfig.Move { return sshconfig.Move{Namespace: "team", ID: id, Gone: true} }
	for name, test := range map[string]struct {
		result v1.Result
		want   []sshconfig.Move
	}{
		"it runs":       {v1.Result{Workspace: w("a")}, []sshconfig.Move{came("a")}},
		"it has failed": {v1.Result{Error: &v1.Error{Workspace: made}}, []sshconfig.Move{came("a")}},
		"it is kept": {
			v1.Result{Error: &v1.Error{Workspace: w("a"), Left: v1.LeftKept}}, []sshconfig.Move{came("a")},
		},
		"it is deleted then": {
			v1.Result{Error: &v1.Error{Workspace: made, Left: v1.LeftDeleted}}, []sshconfig.Move{gone("a")},
		},
		"it was never made": {v1.Result{Error: &v1.Error{Workspace: w("a")}}, nil},
		"nothing is known":  {v1.Result{Error: &v1.Error{}}, nil},
		"a deletion": {
			v1.Result{Deletion: &v1.Deletion{ID: "a", Namespace: "team"}}, []sshconfig.Move{gone("a")},
		},
		"several": {v1.Result{Summary: &v1.ProvisionSummary{Items: []v1.ProvisionItem{
			{Workspace: w("a")}, {Error: &v1.Error{}}, {Error: &v1.Error{Workspace: made}},
		}}}, []sshconfig.Move{came("a"), came("a")}},
		"several deletions": {v1.Result{Deletions: &v1.DeletionSummary{Items: []v1.DeletionItem{
			{Deletion: &v1.Deletion{ID: "a", Namespace: "team"}}, {Error: &v1.Error{}},
		}}}, []sshconfig.Move{gone("a")}},
		"a stop": {v1.Result{Stop: &v1.Stop{}}, nil},
	} {
		if got := movesOf(test.result); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}
