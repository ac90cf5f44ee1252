package commands_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/kubetest"
	"github.com/berthdev/berth/internal/schematest"
)

// What differs is said and brought about, whatever state the workspace is in; what does not
// stays as it is.
func TestUpdateOfAWorkspace(t *testing.T) {
	cmdtest.Offline(t)
	server := kubetest.Start(t, nil)
	cmdtest.Cluster(t, server.URL)
	for _, c := range []struct {
		args    string
		status  int
		says    string
		changes []string // of the document; nil if there is none
	}{
		{"update alice -o json", 7, "berth provision alice", nil},
		{"provision alice --update --dry-run=client", 0, "# create pod/", nil},
		{"provision alice --update", 0, "stage Running", nil},
		{"update alice -o json", 0, "there is nothing to update", []string{}},
		{"provision alice --update -o json", 0, "there is nothing to update", []string{}},
		{"update alice --set env.A=b --dry-run=client", 0, "# delete pod/", nil},
		{"update alice --set env.A=b --dry-run=server", 0, "The API server has checked them", nil},
		{"update alice -o json", 0, "there is nothing to update", []string{}},
		{"update alice --set env.A=b -o json", 0, "env.A", []string{"env.A"}},
		{"update alice --set env.A=b -o json", 0, "there is nothing to update", []string{}},
		{"provision alice", 6, "apply them with `berth update alice`", nil},
		{"update alice --rollback -o json", 0, "is not what it was before", []string{"env.A"}},
		{"update alice --rollback --set env.A=c", 2, "mutually exclusive", nil},
		{"stop alice", 0, "stopped", nil},
		{"update alice --set env.B=c -o json", 0, "env.B", []string{"env.B"}},
		{"stop alice", 0, "stopped", nil},
		{"update alice --set env.B=c -o json", 0, "Running", []string{}},
		{"update alice-a975fae", 2, "is an ID", nil},
		{"delete alice", 0, "deleted", nil},
		{"update alice", 7, "not found", nil},
	} {
		status, stdout, stderr := cmdtest.Run(t, "", strings.Fields(c.args)...)
		if status != c.status || !strings.Contains(stdout+stderr, c.says) {
			t.Fatalf("berth %s: %d\n%s\n%s\nwant %d and %q", c.args, status, stdout, stderr, c.status, c.says)
		}
		if c.changes == nil {
			continue
		}
		schematest.Validate(t, []byte(stdout))
		var one v1.Workspace
		if err := json.Unmarshal([]byte(stdout), &one); err != nil || one.Update == nil ||
			!slices.Equal(one.Update.Changes, c.changes) {
			t.Errorf("berth %s: %v, %s", c.args, err, stdout)
		}
	}
}
