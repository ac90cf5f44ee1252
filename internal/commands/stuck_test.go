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

// Every command that waits for a workspace gives up what only a person can change, after
// --stuck-after: it fails with the cause, and the pod stays.
func TestStuckAfter(t *testing.T) {
	cmdtest.Offline(t)
	server := kubetest.Start(t, nil)
	server.Full = true
	cmdtest.Cluster(t, server.URL)
	for _, args := range []string{
		"provision alice --stuck-after 1s --on-failure delete -o json",
		"provision alice --stuck-after 1s --on-failure delete -o json", // follows
		"restart alice --stuck-after 1s -o json",
		"update alice --set env.A=b --stuck-after 1s -o json",
	} {
		status, stdout, stderr := cmdtest.Run(t, "", strings.Fields(args)...)
		schematest.Validate(t, []byte(stdout))
		var e v1.Error
		if err := json.Unmarshal([]byte(stdout), &e); err != nil || status != 3 || e.Code != "FAILED" ||
			e.Reason != "STUCK" || e.Left == v1.LeftDeleted {
			t.Fatalf("berth %s: %d, %v, %s\n%s", args, status, err, stdout, stderr)
		}
		if e.Message != "0/1 nodes: 1 Insufficient cpu" || e.Workspace == nil ||
			e.Workspace.Stage != v1.StageScheduling ||
			!e.Workspace.GivenUp {
			t.Errorf("berth %s: %s", args, stdout)
		}
		for _, says := range []string{
			"stuck: this will not resolve by itself", "still Scheduling: 0/1 nodes",
			"waited 1s for it (--stuck-after)",
		} {
			if !strings.Contains(stderr, says) {
				t.Errorf("berth %s: %q is not in\n%s", args, says, stderr)
			}
		}
		if pods := server.Names("pods"); !slices.Equal(pods, []string{"/api/v1/namespaces/team/pods/alice-a975fae"}) {
			t.Fatalf("berth %s leaves %q", args, pods)
		}
	}
	for args, says := range map[string]string{
		"exec alice --stuck-after 1s -- true": "still Scheduling: 0/1 nodes",
		"exec alice --timeout 1s -- true":     "timed out after",
	} {
		if _, stderr := cmdtest.Must(t, 125, strings.Fields(args)...); !strings.Contains(stderr, says) {
			t.Errorf("berth %s:\n%s", args, stderr)
		}
	}
	t.Setenv("BERTH_STUCK_AFTER", "1s")
	if _, stderr := cmdtest.Must(t, 3, "provision", "alice"); !strings.Contains(stderr, "gave up after") {
		t.Errorf("of the environment:\n%s", stderr)
	}
	cmdtest.Must(t, 0, "stop", "alice")
	if _, stderr := cmdtest.Must(t, 3, "start", "alice"); !strings.Contains(stderr, "(BERTH_STUCK_AFTER)") {
		t.Errorf("of the environment:\n%s", stderr)
	}
}

// Where nothing is waited for, --stuck-after is refused; of the environment it is for
// other commands.
func TestStuckAfterWithoutWaiting(t *testing.T) {
	cmdtest.Offline(t)
	server := kubetest.Start(t, nil)
	server.Full = true
	cmdtest.Cluster(t, server.URL)
	for _, command := range []string{"provision", "update", "start", "restart", "exec"} {
		if _, stderr := cmdtest.Must(t, map[bool]int{true: 125, false: 2}[command == "exec"], command, "alice",
			"--no-wait",
			"--stuck-after", "5m"); !strings.Contains(stderr, "--stuck-after and --no-wait are mutually exclusive") {
			t.Errorf("%s: %s", command, stderr)
		}
	}
	cmdtest.Must(t, 0, "provision", "bob", "--no-wait", "--stuck-after", "0")
	t.Setenv("BERTH_STUCK_AFTER", "1ms")
	cmdtest.Must(t, 0, "provision", "alice", "--no-wait")
}
